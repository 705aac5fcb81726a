"""The fifteen patterns of FindBugs that are looked for, by the codes under which Mitschke et al. (2014, table 2) list them,
and a bug: where one of them was found."""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    pattern: str
    owner: str
    """The class, as it is written inside class files: `java/util/List`."""
    member: str
    """A method by its name and descriptor behind `owner.`, a field by its name, or the empty text: the class as such."""
    pc: int
    """The instruction, or -1: the member as such."""


TITLES = {
    "BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION": "A primitive is boxed and at once unboxed as another type",
    "CL_CONFUSED_INHERITANCE": "A final class declares a protected field",
    "CN_IDIOM": "The class implements Cloneable but neither defines nor uses clone()",
    "CN_IDIOM_NO_SUPER_CALL": "clone() does not call super.clone()",
    "DM_GC": "The garbage collector is called explicitly",
    "DM_RUN_FINALIZERS_ON_EXIT": "runFinalizersOnExit is called",
    "DP_DO_INSIDE_DO_PRIVILEGED": "setAccessible is called outside of a privileged action",
    "EQ_ABSTRACT_SELF": "An abstract equals takes the class itself instead of Object",
    "FL_PUBLIC_SHOULD_BE_PROTECTED": "finalize() is public, and should be protected",
    "IMSE_DONT_CATCH_IMSE": "IllegalMonitorStateException is caught",
    "MS_PKGPROTECT": "A mutable static field is used only in its package, and could be private to it",
    "MS_SHOULD_BE_FINAL": "A static field is never assigned again, and should be final",
    "SE_BAD_FIELD_INNER_CLASS": "A serializable inner class stands in a class that is not",
    "SW_SWING_METHODS_INVOKED_IN_SWING_THREAD": "main() shows a Swing window outside of Swing's thread",
    "UG_SYNC_SET_UNSYNC_GET": "The setter is synchronized, the getter is not",
}
CODES: tuple[str, ...] = tuple(TITLES)
"""In the order of the paper's table, where they are called A to O."""

# --- what the patterns look for --------------------------------------------------------------------------------

WRAPPERS = {
    "java/lang/Boolean": "Z",
    "java/lang/Byte": "B",
    "java/lang/Character": "C",
    "java/lang/Short": "S",
    "java/lang/Integer": "I",
    "java/lang/Long": "J",
    "java/lang/Float": "F",
    "java/lang/Double": "D",
}
PRIMITIVE_PARAMETERS = tuple(f"({p})V" for p in WRAPPERS.values())
BOXED = tuple(f"({p})L{wrapper};" for wrapper, p in WRAPPERS.items())
UNBOXED = tuple(f"(){p}" for p in WRAPPERS.values())
CLONEABLE = "java/lang/Cloneable"
SERIALIZABLE, EXTERNALIZABLE = "java/io/Serializable", "java/io/Externalizable"
PRIVILEGED = ("java/security/PrivilegedAction", "java/security/PrivilegedExceptionAction")
REFLECTED = tuple(f"java/lang/reflect/{x}" for x in ("AccessibleObject", "Constructor", "Field", "Method"))
RUNTIME = ("java/lang/Runtime", "java/lang/System")
OUT_OF_MEMORY = "java/lang/OutOfMemoryError"
MONITOR_STATE = "java/lang/IllegalMonitorStateException"
SWING = "javax/swing/"
SHOWING = ("pack()V", "setVisible(Z)V", "show()V")
HASHTABLE = "Ljava/util/Hashtable;"
