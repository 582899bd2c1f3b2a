/**
 * Questions a reader may ask first about tables of their own, made of the tables' own columns. Pure: sees the profile, never a value beyond it.
 * Keeps to wordings that the offline analyst understands, so that no suggestion ends in a refusal.
 */
import type { ColumnProfile, TableProfile, UploadedFile } from "$lib/api/types";
import { bestCategory, bestMeasure, happenedOn, manyToRank, type Measure } from "./columns";

type Language = "zh" | "en";
const MOST = 3;

/** Up to three questions about the largest table, or none when its columns say too little. */
export function suggest(files: readonly UploadedFile[], language: Language): string[] {
  const table = largest(files);
  if (!table) return [];
  const say = language === "zh" ? CHINESE : ENGLISH;
  const called = (column: ColumnProfile) => shown(column, table, language);
  const category = bestCategory(table);
  const measure = bestMeasure(table);
  if (!category && !measure) return [];
  const byGroup = (group: ColumnProfile | undefined) => group && measure && say.byGroup(called(group), called(measure.column), measure);
  const counts = (group: ColumnProfile | undefined) => group && say.counts(called(group));
  const ranked = manyToRank(table, category);
  const next = bestCategory(table, category, ranked);
  const holes = table.columns.some((column) => (column.nulls ?? 0) > 0);
  const wished = [
    measure ? byGroup(category) : counts(category),
    measure && happenedOn(table) && say.monthly(called(measure.column), measure),
    measure && ranked && say.top(called(ranked), called(measure.column), measure),
    holes && say.blanks,
    measure ? byGroup(next) : counts(next),
    measure && counts(category),
  ];
  return wished.filter((question) => typeof question === "string").slice(0, MOST);
}

// 各个, not 各: before some nouns (片区, 品种) the short form reads as a classifier. For each, not by: `amount_paid by …` reads as who paid.
const CHINESE = {
  byGroup: (group: string, figure: string, { mean }: Measure) => tidy(`各个${group}的${mean ? "平均" : ""}${figure}是多少？`),
  counts: (group: string) => tidy(`各个${group}有多少条记录？`),
  monthly: (figure: string, { mean }: Measure) => tidy(`按月看${mean ? "平均" : ""}${figure}的趋势`),
  top: (group: string, figure: string, { mean }: Measure) => tidy(`${mean ? "平均" : ""}${figure}排名前5的${group}是哪些？`),
  blanks: "哪些列有缺失值？",
};

const ENGLISH = {
  byGroup: (group: string, figure: string, { mean }: Measure) => `What is the ${mean ? "average " : isTotal(figure) ? "" : "total "}${figure} for each ${group}?`,
  counts: (group: string) => `How many rows are there by ${group}?`,
  monthly: (figure: string, { mean }: Measure) => `Show ${mean ? "average " : ""}${figure} by month`,
  top: (group: string, figure: string, { mean }: Measure) => `Show the top 5 ${group} by ${mean ? "average " : ""}${figure}`,
  blanks: "Are there missing values?",
};

const isTotal = (figure: string) => /^total|total$/i.test(figure);

function largest(files: readonly UploadedFile[]): TableProfile | undefined {
  const tables = files.filter((file) => (file.status ?? "ready") === "ready").flatMap((file) => file.profile?.tables ?? []);
  return tables.filter((table) => table.rows > 1).reduce<TableProfile | undefined>((best, table) => (!best || table.rows > best.rows ? table : best), undefined);
}

/** The header as it is, without the unit in brackets unless two columns would then be called the same. */
function shown(column: ColumnProfile, table: TableProfile, language: Language): string {
  const short = withoutUnit(column.name);
  const own = table.columns.filter((other) => withoutUnit(other.name) === short).length === 1 ? short : column.name.trim();
  // `产 品` was spaced out to fill its cell.
  return language === "zh" ? own.replace(/(?<=[一-鿿])\s+(?=[一-鿿])/g, "") : own;
}

const withoutUnit = (name: string): string => name.replace(/\s*[(（[【][^()（）[\]【】]*[)）\]】]\s*$/, "").trim() || name.trim();

/** A space between Chinese and Latin letters, as it is set in print. */
const tidy = (text: string): string => text.replace(/(?<=[一-鿿])(?=[A-Za-z])/g, " ").replace(/(?<=[A-Za-z])(?=[一-鿿])/g, " ");
