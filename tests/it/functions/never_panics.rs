//! No function panics, whatever values it is given and whether or not their types are those that it declares.

use pipelint::functions::{self, AggregateCall, Argument, EvalContext, Invocation};
use pipelint::model::{DataType, Decimal, Field, Value};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};

fn value() -> impl Strategy<Value = (Value, DataType)> {
    let scalar = prop_oneof![
        Just((Value::Null, DataType::Null)),
        any::<bool>().prop_map(|v| (Value::Boolean(v), DataType::Boolean)),
        any::<i8>().prop_map(|v| (Value::Byte(v), DataType::Byte)),
        prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(0), -3..40, any::<i32>()]
            .prop_map(|v| (Value::Int(v), DataType::Int)),
        prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()].prop_map(|v| (Value::Long(v), DataType::Long)),
        any::<f64>().prop_map(|v| (Value::Double(v), DataType::Double)),
        (any::<i128>(), 0i8..=38).prop_map(|(v, scale)| {
            let unscaled = v % 10i128.pow(38);
            (Value::Decimal(Decimal { unscaled, precision: 38, scale }), DataType::decimal(38, scale))
        }),
        prop_oneof![
            "[a-c%_$.\\[\\]{}()*+?'\":,0-9 -]{0,12}",
            Just("é%s %5d".to_owned()),
            Just("10 minutes".to_owned())
        ]
        .prop_map(|v| (Value::string(v), DataType::String)),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(|v| (Value::Binary(v.into()), DataType::Binary)),
        any::<i32>().prop_map(|v| (Value::Date(v), DataType::Date)),
        any::<i64>().prop_map(|v| (Value::Timestamp(v), DataType::Timestamp)),
        any::<i64>().prop_map(|v| (Value::TimestampNtz(v), DataType::TimestampNtz)),
        any::<i64>().prop_map(|v| (Value::DayTimeInterval(v), DataType::DayTimeInterval)),
        any::<i32>().prop_map(|v| (Value::YearMonthInterval(v), DataType::YearMonthInterval)),
        (any::<i32>(), any::<i32>(), any::<i64>()).prop_map(|(months, days, micros)| {
            (Value::CalendarInterval { months, days, micros }, DataType::CalendarInterval)
        }),
        Just((Value::Variant("{\"a\":[1,\"x\"]}".into()), DataType::Variant)),
        any::<u64>().prop_map(|v| (Value::Opaque(v), DataType::Unknown)),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| {
                let element = items.first().map_or(DataType::Null, |(_, t)| t.clone());
                (Value::Array(items.into_iter().map(|(v, _)| v).collect()), DataType::array(element))
            }),
            (inner.clone(), inner.clone())
                .prop_map(|((k, kt), (v, vt))| { (Value::Map([(k, v)].into()), DataType::map(kt, vt)) }),
            inner.prop_map(|(v, t)| (Value::Struct([v].into()), DataType::Struct(vec![Field::new("a", t)]))),
        ]
    })
}

fn call_every_function(values: &[Value], types: &[DataType], context: &EvalContext) {
    let literals: Vec<Argument> =
        values.iter().zip(types).map(|(v, t)| Argument::literal(v.clone(), t.clone())).collect();
    for function in functions::all() {
        // As the analysis would call it, and with whatever stands there.
        let _ = functions::evaluate(function.name(), values, types, context);
        let (result, _) = function.result(&literals);
        let lambda = |_: usize, items: &[Value]| Ok(items.last().cloned().unwrap_or(Value::Null));
        let call = Invocation { args: values, types, result: &result, context, lambda: Some(&lambda) };
        let _ = function.evaluate(&call);
        if let Some(generator) = function.generator() {
            let _ = generator.rows(&call, (generator.output)(&literals).len());
        }
        if let Some(aggregate) = function.aggregate() {
            let call = AggregateCall { types, result: &result, ignore_nulls: false, descending: false, context };
            let mut buffer = aggregate.initialize(&call);
            for _ in 0..3 {
                let _ = aggregate.update(&mut buffer, values, &call);
            }
            // State of another query.
            let _ = aggregate.merge(&mut buffer, values, &call);
            let _ = aggregate.finish(values, &call);
            let _ = aggregate.finish(&buffer, &call);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    fn any_function_on_any_values(args in prop::collection::vec(value(), 0..5), ansi in any::<bool>()) {
        let (values, types): (Vec<Value>, Vec<DataType>) = args.into_iter().unzip();
        call_every_function(&values, &types, &EvalContext { ansi, ..EvalContext::default() });
    }

    fn any_cast((value, from) in value(), (_, to) in value(), ansi in any::<bool>()) {
        let zone = EvalContext::default().zone;
        let _ = functions::cast(&value, &from, &to, ansi, &zone);
        let _ = functions::try_cast(&value, &from, &to, &zone);
    }
}

crate::tests![any_function_on_any_values, any_cast];
