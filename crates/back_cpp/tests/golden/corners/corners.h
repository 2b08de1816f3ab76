/* What the program includes: only the types that its signatures name. */
enum color { red, green };
