import type { Place } from '../records/entries.ts'
import { createLeniencies, type Leniencies } from '../records/sources/leniencies.ts'
import type { RosterFindings, RosterPart, RosterProblem } from './roster.ts'

const maxKept = 1000

export interface FindingsCollector {
  /** @param part the part whose row it keeps from being read; null for a row that only others refer to */
  addProblem(part: RosterPart | null, problem: RosterProblem): void
  addWarning(problem: RosterProblem): void
  /** Counts records of a file that are read leniently or left out. */
  addLeniency(file: string, what: string, value?: string): void
  addRow(file: string): void
  /** Notes a column with values that is not read. */
  addUnread(file: string, column: string): void
  /** Marks the record of a row as replaced by a later row; `was` says whether the row had an entry. */
  addReplaced(part: RosterPart, place: Place, was: 'declared' | 'removed' | null): void
  readonly findings: RosterFindings
}

/** Keeps the first thousand problems and warnings each and counts the others. */
export function createFindings(): FindingsCollector {
  const problems: { readonly part: RosterPart | null; readonly problem: RosterProblem }[] = []
  const warnings: RosterProblem[] = []
  let warningCount = 0
  let uncounted = 0
  const leniencies = new Map<string, Leniencies>()
  const rows = new Map<string, number>()
  const unread = new Map<string, string[]>()
  const replaced = new Set<string>()
  const replacedCounts = new Map<string, number>()
  const keyOf = (part: RosterPart | null, { file, line }: Place) => `${part}\n${file}\n${line}`
  const isReplaced = (part: RosterPart | null, place: Place) =>
    replaced.size > 0 && part !== null && replaced.has(keyOf(part, place))
  const current = () => problems.filter(({ part, problem }) => !isReplaced(part, problem))

  return {
    addProblem(part, problem) {
      if (problems.length < maxKept) problems.push({ part, problem })
      else uncounted += 1
    },
    addWarning(problem) {
      warningCount += 1
      if (warnings.length < maxKept) warnings.push(problem)
    },
    addLeniency(file, what, value) {
      let ofFile = leniencies.get(file)
      if (!ofFile) {
        ofFile = createLeniencies(file)
        leniencies.set(file, ofFile)
      }
      ofFile.add(what, value)
    },
    addUnread: (file, column) => void unread.set(file, [...(unread.get(file) ?? []), column]),
    addRow: (file) => void rows.set(file, (rows.get(file) ?? 0) + 1),
    addReplaced(part, place, was) {
      const key = keyOf(part, place)
      if (replaced.has(key)) return
      replaced.add(key)
      if (was !== null) replacedCounts.set(`${part} ${was}`, (replacedCounts.get(`${part} ${was}`) ?? 0) + 1)
    },
    findings: {
      problems: () => current().map(({ problem }) => problem),
      problemCount: () => current().length + uncounted,
      warnings: () => warnings,
      warningCount: () => warningCount,
      notes: () => [...leniencies.values()].flatMap((each) => each.notes()),
      isReplaced: ({ dataset, place }) => isReplaced(dataset, place),
      replacedCount: (part, removed) =>
        replacedCounts.get(`${part} ${removed ? 'removed' : 'declared'}`) ?? 0,
      rowCount: (file) => rows.get(file) ?? 0,
      unreadColumns: (file) => unread.get(file) ?? [],
    },
  }
}
