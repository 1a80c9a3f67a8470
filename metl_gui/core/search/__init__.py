"""Questions to trees and matrix: filters, search for nodes, where something comes from and goes to, gaps, checks."""
