//! Statements that a session prepares when it connects, each declared with its text.

/// Declares a struct of prepared statements, each by its name and its text, and a constructor that
/// prepares them all in one round trip.
macro_rules! prepared_statements {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$statement_attribute:meta])* $statement:ident: $text:expr,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$statement_attribute])* $statement: ::tokio_postgres::Statement,)+
        }

        impl $name {
            /// Prepares each statement with the text that `adapt` makes of the declared one.
            $visibility async fn prepare<T: AsRef<str>>(
                session: &$crate::session::Session,
                adapt: impl Fn(&'static str) -> T,
            ) -> Result<Self, $crate::statement_failure::StatementFailure> {
                let texts = [$($text),+].map(adapt);
                let [$($statement),+] = session.prepare(&texts).await?;
                Ok(Self { $($statement),+ })
            }
        }
    };
}

pub(crate) use prepared_statements;
