import { benchQuestions } from './analytics-questions.ts'
import { benchReport } from './analytics-report.ts'
import { benchTables } from './analytics-tables.ts'
import type { BenchRow } from './row.ts'

/** Measurements of what an analyst waits for, each in a file of its own. */
const parts: readonly ((bin: string, directory: string) => Promise<BenchRow[]>)[] = [
  benchTables,
  benchQuestions,
  benchReport,
]

/** Measures files of tables, and the questions and reports of analytics. */
export async function benchAnalytics(bin: string, directory: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const bench of parts) rows.push(...(await bench(bin, directory)))
  return rows
}
