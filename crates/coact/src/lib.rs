//! Actors and behaviour-oriented concurrency as one runtime.
