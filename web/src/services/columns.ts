/** What the columns of a table are good for, judged by their profile and their names: groups, figures, times. Guesses, never more. */
import type { ColumnProfile, TableProfile } from "$lib/api/types";
import { CALENDAR, CATEGORIES, DATE_OF_A_THING, FIGURES, FLAG, LESS, NUMBERED, PER_UNIT, REMARK, SPAN, SPAN_UNIT, TOTAL, WEAK_CATEGORY, wordsOf, YES_OR_NO } from "./column-words";

/** A column of figures, and whether its mean says more than its sum (a price, a score, a share). */
export interface Measure {
  column: ColumnProfile;
  mean: boolean;
}

const GROUPS = { least: 2, most: 50 };
const MOST_BLANKS = 0.2;
const LONG_NAME = 30;
const LONG_VALUE = 24;

const isNumber = (column: ColumnProfile) => /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|REAL|DECIMAL)\b/i.test(column.type);
const isText = (column: ColumnProfile) => /^(?:VARCHAR|ENUM)/i.test(column.type);
const isDate = (column: ColumnProfile) => /^(?:DATE|TIMESTAMP)/i.test(column.type);

/** `<name>_raw` keeps the texts that stood among numbers or dates. */
const usable = (column: ColumnProfile, table: TableProfile) =>
  column.name.length <= LONG_NAME && !column.name.endsWith("_raw") && (column.distinct ?? 0) > 1 && (column.nulls ?? 0) <= MOST_BLANKS * table.rows;

/** The place of the first that fits, or behind the last. */
const placeIn = (ranks: readonly RegExp[], text: string) => {
  const at = ranks.findIndex((rank) => rank.test(text));
  return at < 0 ? ranks.length : at;
};

/** The item with the lowest rank, the first of equals. */
const lowest = <T>(items: readonly T[], rank: (item: T) => number): T | undefined => items.map((item) => ({ item, rank: rank(item) })).sort((a, b) => a.rank - b.rank)[0]?.item;

const withoutBrackets = (name: string) => name.replace(/[(（][^)）]*[)）]/g, " ");

/** The figure a table is about: money before pieces, a total before a price of one piece. */
export function bestMeasure(table: TableProfile): Measure | undefined {
  const figures = table.columns.filter(
    (column) => isNumber(column) && usable(column, table) && !NUMBERED.test(wordsOf(withoutBrackets(column.name))) && !CALENDAR.test(wordsOf(column.name)) && !areYears(column),
  );
  const column = lowest(figures, (figure) => {
    const name = wordsOf(figure.name);
    return placeIn(FIGURES, name) + (isMean(figure) ? 10 : 0) + (LESS.test(name) ? 5 : 0);
  });
  return column && { column, mean: isMean(column) };
}

/** `founded` and `customer_since` hold years whatever they are called. */
const areYears = (column: ColumnProfile) =>
  /INT/i.test(column.type) && Number(column.min) >= 1900 && Number(column.max) <= 2100 && placeIn(FIGURES, wordsOf(column.name)) === FIGURES.length;

function isMean(column: ColumnProfile): boolean {
  const name = wordsOf(column.name);
  if (TOTAL.test(wordsOf(withoutBrackets(column.name))) && !/ per /.test(name)) return false;
  return column.unit === "%" || PER_UNIT.test(name) || SPAN.test(name) || SPAN_UNIT.test(column.name);
}

function isFlag(column: ColumnProfile): boolean {
  const examples = column.examples ?? [];
  return FLAG.test(column.name) || (examples.length > 0 && examples.every((value) => YES_OR_NO.test(value)));
}

/** Texts that name something and repeat: as many different values as rows are titles, not groups. */
function isGroup(column: ColumnProfile, table: TableProfile): boolean {
  const name = wordsOf(column.name);
  const short = (column.examples ?? []).every((value) => value.length <= LONG_VALUE);
  const repeats = (column.distinct ?? 0) <= table.rows * 0.6;
  return isText(column) && usable(column, table) && short && repeats && !isFlag(column) && ![NUMBERED, CALENDAR, REMARK].some((other) => other.test(name));
}

function groupRank(column: ColumnProfile): number {
  const name = wordsOf(column.name);
  const values = column.distinct ?? 0;
  return placeIn(CATEGORIES, name) + (values < 3 || values > 15 ? 0.5 : 0) + (WEAK_CATEGORY.test(name) ? 3 : 0);
}

/** The column to group by, or the one to group by next when `taken` are not to be had. */
export function bestCategory(table: TableProfile, ...taken: (ColumnProfile | undefined)[]): ColumnProfile | undefined {
  const few = table.columns.filter((column) => (column.distinct ?? 0) >= GROUPS.least && (column.distinct ?? 0) <= GROUPS.most);
  return lowest(few.filter((column) => !taken.includes(column) && isGroup(column, table)), groupRank);
}

/** Another column with more than five values, for a ranking of the first five. */
export function manyToRank(table: TableProfile, taken: ColumnProfile | undefined): ColumnProfile | undefined {
  return lowest(table.columns.filter((column) => column !== taken && (column.distinct ?? 0) > 5 && isGroup(column, table)), groupRank);
}

/** A date along which the rows happened, over more than one month. */
export function happenedOn(table: TableProfile): ColumnProfile | undefined {
  const month = (value: unknown) => String(value ?? "").slice(0, 7);
  return table.columns.find((column) => isDate(column) && usable(column, table) && !DATE_OF_A_THING.test(wordsOf(column.name)) && month(column.min) !== month(column.max));
}
