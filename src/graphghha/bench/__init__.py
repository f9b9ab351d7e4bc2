"""One file per table or figure; each returns plain data that ends in JSON, Markdown and a picture."""
