"""What every report is made with: one way to draw a figure, a static SVG and an offline page."""
