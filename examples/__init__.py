"""Small programs that show what evercurrent does."""
