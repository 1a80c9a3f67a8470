"""The block matrix: layout of the plane, levels, tiles of pixels, gestures, and the view that joins them."""
