//! The text forms of both models.
