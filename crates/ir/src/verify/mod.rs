//! What must hold of both models after every pass.
