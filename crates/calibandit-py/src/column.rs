//! Columns of numbers that NumPy reads without copying.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// An immutable column of numbers. It lives as long as any array that shares its memory, because `numpy.asarray` keeps
/// a reference to it.
#[pyclass(module = "calibandit._core", frozen)]
pub(crate) struct Column(pub(crate) ArrayRef);

impl Column {
    pub(crate) fn floats(values: Vec<f64>) -> Self {
        Self(Arc::new(Float64Array::from(values)))
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// NumPy's array interface, version 3: an address, read-only.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, kind) = match self.0.data_type() {
            DataType::Float64 => (self.0.as_primitive::<Float64Type>().values().as_ptr().addr(), "f8"),
            _ => (self.0.as_primitive::<UInt64Type>().values().as_ptr().addr(), "u8"),
        };
        let order = if cfg!(target_endian = "little") { "<" } else { ">" };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}
