//! A list with indexes: made at the first look-up, shared by all further ones, forgotten when the list changes.
//!
//! Order and content are the list's; an index is only a faster way to what a walk over the list would find.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock};

/// Something to look items up by.
pub trait Index<T>: Send + Sync + 'static {
    fn of(items: &[T]) -> Self;
}

type Made = Vec<(TypeId, Arc<dyn Any + Send + Sync>)>;

pub struct Indexed<T> {
    items: Vec<T>,
    made: RwLock<Made>,
}

impl<T> Indexed<T> {
    /// The index of this kind.
    pub fn index<I: Index<T>>(&self) -> Arc<I> {
        let find = |made: &Made| {
            let found = made.iter().find(|(kind, _)| *kind == TypeId::of::<I>());
            found.and_then(|(_, index)| Arc::clone(index).downcast::<I>().ok())
        };
        if let Some(index) = find(&self.made.read().unwrap_or_else(PoisonError::into_inner)) {
            return index;
        }
        // Two threads may both make it; both are the same.
        let index = Arc::new(I::of(&self.items));
        let kept: Arc<dyn Any + Send + Sync> = index.clone();
        self.made.write().unwrap_or_else(PoisonError::into_inner).push((TypeId::of::<I>(), kept));
        index
    }
}

impl<T> Deref for Indexed<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Indexed<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.made.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        &mut self.items
    }
}

impl<T> From<Vec<T>> for Indexed<T> {
    fn from(items: Vec<T>) -> Self {
        Indexed { items, made: RwLock::default() }
    }
}

impl<T> FromIterator<T> for Indexed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Default for Indexed<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone> Clone for Indexed<T> {
    fn clone(&self) -> Self {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner).clone();
        Indexed { items: self.items.clone(), made: RwLock::new(made) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Indexed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Indexed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<'a, T> IntoIterator for &'a Indexed<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Indexed<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.deref_mut().iter_mut()
    }
}

impl<T> IntoIterator for Indexed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct ByText(HashMap<&'static str, usize>);

    impl Index<&'static str> for ByText {
        fn of(items: &[&'static str]) -> Self {
            ByText(items.iter().enumerate().map(|(at, text)| (*text, at)).collect())
        }
    }

    #[test]
    fn a_changed_list_has_another_index() {
        let mut list: Indexed<&'static str> = vec!["a", "b"].into();
        assert_eq!(list.index::<ByText>().0.get("b"), Some(&1));
        list.insert(0, "c");
        assert_eq!(list.index::<ByText>().0.get("b"), Some(&2));
    }
}
