/** Whether fingers are used here: nothing can be dragged onto a phone. */
export const touch: boolean = globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
