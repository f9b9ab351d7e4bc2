"""Detection studies that train networks."""
