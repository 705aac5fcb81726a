"""Programs that make the documentation; nothing that the package needs.

reference  writes the reference pages from the code, and runs their examples
site       builds the site, and checks its links
"""
