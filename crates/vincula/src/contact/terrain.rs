//! Terrain as heights over a grid: z = heights[row][column], each cell two triangles.

use glam::{DVec2, DVec3};
use thiserror::Error;

use crate::body::shape::TriMesh;

/// Heights over a rectangle centred at the origin; rows run along y, columns along x.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// Number of columns, along x.
    pub columns: usize,
    /// Heights, m, row after row.
    pub heights: Vec<f64>,
    /// Extent of the rectangle along x and y, m.
    pub size: DVec2,
}

/// Why heights do not make a terrain.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TerrainError {
    /// Less than one cell, or a last row cut short.
    #[error(
        "{count} heights in rows of {columns} are not a grid of at least two rows and two columns"
    )]
    Grid {
        /// How many heights there are.
        count: usize,
        /// How many make a row.
        columns: usize,
    },
    /// A height is not finite.
    #[error("the height in row {row}, column {column} is {value}: it must be finite")]
    Height {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// What it is.
        value: f64,
    },
    /// The rectangle has no area.
    #[error("the size {size} must be finite and positive along x and y")]
    Size {
        /// What was given, m.
        size: DVec2,
    },
}

impl HeightField {
    /// Samples a function of x and y, m, at the corners of `columns` − 1 by `rows` − 1 cells.
    pub fn sample(
        size: DVec2,
        columns: usize,
        rows: usize,
        height: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let mut field = HeightField {
            columns,
            heights: vec![0.0; columns * rows],
            size,
        };
        for row in 0..rows {
            for column in 0..columns {
                let p = field.corner(row, column);
                field.heights[row * columns + column] = height(p.x, p.y);
            }
        }
        field
    }

    /// Number of rows, along y.
    pub fn rows(&self) -> usize {
        self.heights.len() / self.columns.max(1)
    }

    /// The corner of cells at a row and a column, m.
    fn corner(&self, row: usize, column: usize) -> DVec3 {
        let along = |index: usize, count: usize| index as f64 / (count - 1) as f64 - 0.5;
        DVec3::new(
            self.size.x * along(column, self.columns),
            self.size.y * along(row, self.rows()),
            self.heights[row * self.columns + column],
        )
    }

    /// Refuses grids without a cell, heights that are not finite and empty rectangles.
    pub fn check(&self) -> Result<(), TerrainError> {
        let (count, columns) = (self.heights.len(), self.columns);
        if columns < 2 || self.rows() < 2 || count != columns * self.rows() {
            return Err(TerrainError::Grid { count, columns });
        }
        if let Some(at) = self.heights.iter().position(|z| !z.is_finite()) {
            return Err(TerrainError::Height {
                row: at / columns,
                column: at % columns,
                value: self.heights[at],
            });
        }
        let size = self.size;
        if !(size.is_finite() && size.x > 0.0 && size.y > 0.0) {
            return Err(TerrainError::Size { size });
        }
        Ok(())
    }

    /// The terrain as triangles that face up. Callers have run [`check`](Self::check).
    pub fn mesh(&self) -> TriMesh {
        let (rows, columns) = (self.rows(), self.columns);
        let vertices = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(row, column)| self.corner(row, column))
            .collect();
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let near = (row * columns + column) as u32;
                let far = near + columns as u32;
                triangles.push([near, near + 1, far + 1]);
                triangles.push([near, far + 1, far]);
            }
        }
        TriMesh {
            vertices,
            triangles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_plane_becomes_triangles_in_it_that_face_up() {
        let plane = |x: f64, y: f64| 0.3 * x - 0.2 * y + 1.0;
        let field = HeightField::sample(DVec2::new(4.0, 2.0), 5, 3, plane);
        assert_eq!(field.check(), Ok(()));
        let mesh = field.mesh();
        assert_eq!(mesh.triangles.len(), 2 * 4 * 2);
        let up = DVec3::new(-0.3, 0.2, 1.0).normalize();
        let mut area = 0.0;
        for [a, b, c] in &mesh.triangles {
            let [a, b, c] = [a, b, c].map(|i| mesh.vertices[*i as usize]);
            let normal = (b - a).cross(c - a);
            assert!((normal.normalize() - up).length() < 1e-12);
            area += 0.5 * normal.z;
        }
        assert!((area - 8.0).abs() < 1e-12, "the shadow is the rectangle");
    }

    #[test]
    fn broken_grids_are_named() {
        let good = HeightField::sample(DVec2::ONE, 3, 3, |_, _| 0.0);
        let mut cut = good.clone();
        cut.heights.pop();
        assert_eq!(
            cut.check(),
            Err(TerrainError::Grid {
                count: 8,
                columns: 3
            })
        );
        let mut hole = good.clone();
        hole.heights[5] = f64::NAN;
        assert!(matches!(
            hole.check(),
            Err(TerrainError::Height {
                row: 1,
                column: 2,
                ..
            })
        ));
        let mut flat = good;
        flat.size.y = 0.0;
        assert!(matches!(flat.check(), Err(TerrainError::Size { .. })));
    }
}
