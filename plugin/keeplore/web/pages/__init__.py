"""What each page holds: values for its template, served or exported."""
