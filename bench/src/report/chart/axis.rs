//! An axis: which values it spans, where they lie, and where its marks are.

use super::super::words::plain;

/// Spread of values from which on an axis is logarithmic.
const WIDE: f64 = 20.0;

/// How values become places.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Logarithmic,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// How values become places.
    scale: Scale,
    /// What stands beside it.
    title: String,
    /// What stands at a mark.
    label: fn(f64) -> String,
    least: f64,
    most: f64,
    marks: Vec<f64>,
}

impl Axis {
    /// From zero; or logarithmic, if the values, all above zero, lie far apart.
    pub fn fitting(title: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = span(values);
        if most / least > WIDE {
            return Axis::logarithmic(title, [least, most]);
        }
        let marks = even_marks(0.0, most * 1.02);
        Axis {
            scale: Scale::Linear,
            title: title.to_owned(),
            label: plain,
            least: 0.0,
            most: most * 1.02,
            marks,
        }
    }

    /// Logarithmic, with some room at both ends.
    pub fn logarithmic(title: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = span(values);
        let (least, most) = (least / 1.3, most * 1.3);
        let marks = ratio_marks(least, most);
        Axis {
            scale: Scale::Logarithmic,
            title: title.to_owned(),
            label: plain,
            least,
            most,
            marks,
        }
    }

    /// Logarithmic, with its marks at the values alone.
    pub fn steps(title: &str, values: &[f64]) -> Axis {
        let mut axis = Axis::logarithmic(title, values.iter().copied());
        axis.marks = values.to_vec();
        axis
    }

    /// With other words at the marks.
    pub fn labelled(mut self, label: fn(f64) -> String) -> Axis {
        self.label = label;
        self
    }

    /// Whether equal ratios are equally far apart.
    pub fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    /// From 0 at the least value to 1 at the most.
    pub fn at(&self, value: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (value - self.least) / (self.most - self.least),
            Scale::Logarithmic => {
                (value.max(self.least) / self.least).ln() / (self.most / self.least).ln()
            }
        };
        part.clamp(0.0, 1.0)
    }

    /// Place and label of each mark.
    pub fn marks(&self) -> impl Iterator<Item = (f64, String)> {
        self.marks.iter().map(|&mark| (self.at(mark), (self.label)(mark)))
    }

    /// The title, and that the scale is logarithmic where it is.
    pub fn caption(&self) -> String {
        match self.scale {
            Scale::Linear => self.title.clone(),
            Scale::Logarithmic => format!("{}, log scale", self.title),
        }
    }
}

fn span(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values
        .into_iter()
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    if least <= most { (least, most) } else { (1.0, 1.0) }
}

/// Round values, equally far apart: about five.
fn even_marks(least: f64, most: f64) -> Vec<f64> {
    let rough = (most - least) / 5.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|of| of * decade).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (least / step).ceil();
    (0..16).map(|n| (first + f64::from(n)) * step).take_while(|mark| *mark <= most).collect()
}

/// Round values, about equally far apart as ratios: powers of ten if they are enough, else more
/// between them.
fn ratio_marks(least: f64, most: f64) -> Vec<f64> {
    let decades = || least.log10().floor() as i32..=most.log10().ceil() as i32;
    let of = |digits: &[f64]| -> Vec<f64> {
        let marks = decades().flat_map(|n| digits.iter().map(move |digit| digit * 10_f64.powi(n)));
        marks.filter(|mark| (least..=most).contains(mark)).collect()
    };
    let tens = of(&[1.0]);
    if tens.len() >= 4 {
        let stride = tens.len().div_ceil(7);
        return tens.into_iter().step_by(stride).collect();
    }
    let finer: [&[f64]; 3] = [&[1.0, 3.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]];
    let enough = finer.into_iter().map(of).find(|marks| marks.len() >= 4);
    enough.unwrap_or_else(|| even_marks(least, most))
}

#[cfg(test)]
mod tests {
    use super::{Axis, Scale, even_marks, plain, ratio_marks};

    #[test]
    fn marks_are_round() {
        let shown = |marks: Vec<f64>| marks.into_iter().map(plain).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(even_marks(0.0, 10.0)), "0 2 4 6 8 10");
        assert_eq!(shown(even_marks(0.0, 0.034)), "0 0.01 0.02 0.03");
        assert_eq!(shown(ratio_marks(0.5, 20_000.0)), "1 10 100 1,000 10,000");
        assert_eq!(shown(ratio_marks(0.8, 40.0)), "1 3 10 30");
        assert_eq!(shown(ratio_marks(4.0, 4.9)), "4 4.2 4.4 4.6 4.8");
    }

    #[test]
    fn an_axis_is_logarithmic_where_values_lie_far_apart() {
        let near = Axis::fitting("time", [1.0, 10.0]);
        assert_eq!((near.scale, near.caption().as_str()), (Scale::Linear, "time"));
        let far = Axis::fitting("time", [1.0, 100.0]);
        assert_eq!((far.scale, far.caption().as_str()), (Scale::Logarithmic, "time, log scale"));
        assert!((far.at(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn whatever_the_values_places_lie_within() {
        for values in [vec![], vec![0.0], vec![5.0], vec![1e-29, 1e29], vec![f64::NAN, 3.0]] {
            for axis in [Axis::fitting("", values.clone()), Axis::logarithmic("", values.clone())] {
                let places = values.iter().map(|value| axis.at(*value));
                let finite = places.filter(|place| !place.is_nan());
                assert!(
                    finite
                        .chain(axis.marks().map(|(at, _)| at))
                        .all(|at| (0.0..=1.0).contains(&at))
                );
                assert!(axis.marks().count() <= 16);
            }
        }
    }
}
