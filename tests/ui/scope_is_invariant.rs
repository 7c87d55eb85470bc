//! A scope ends when it ends: it can be taken neither for a shorter one nor for a longer one.

use coact::behaviour::Scope;

fn shorter<'long: 'short, 'short>(scope: &'short Scope<'long, 'long>) -> &'short Scope<'short, 'long> {
    scope
}

fn shorter_environment<'long: 'short, 'short>(
    scope: &'short Scope<'short, 'long>,
) -> &'short Scope<'short, 'short> {
    scope
}

fn longer_environment<'long: 'short, 'short>(
    scope: &'short Scope<'short, 'short>,
) -> &'short Scope<'short, 'long> {
    scope
}

fn main() {}
