"""Pictures and videos: what they are, where they are kept, what is read from them."""
