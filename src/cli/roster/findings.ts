import type { Place } from '../records/entries.ts'
import { createLeniencies, type Leniencies } from '../records/sources/leniencies.ts'
import type { RosterFindings, RosterPart, RosterProblem } from './roster.ts'

const maxKept = 1000

export interface FindingsCollector {
  /** @param part the part whose row it keeps from being read; null for a row that only others refer to */
  addProblem(part: RosterPart | null, place: Place, problem: Omit<RosterProblem, keyof Place>): void
  addWarning(problem: RosterProblem): void
  /** Counts records of a file that are read leniently or left out. */
  addLeniency(file: string, what: string, value?: string): void
  addRow(file: string): void
  /** Notes a column with values that is not read. */
  addUnread(file: string, column: string): void
  /** Marks what a row says of a part as replaced by a later row, or only its record with a key. */
  addReplaced(part: RosterPart, place: Place, key?: string): void
  readonly findings: RosterFindings
}

interface Found {
  readonly part: RosterPart | null
  readonly place: Place
  readonly problem: RosterProblem
}

/** Keeps the first thousand problems and warnings each and counts the others. */
export function createFindings(): FindingsCollector {
  const problems: Found[] = []
  const warnings: RosterProblem[] = []
  let warningCount = 0
  let uncounted = 0
  const leniencies = new Map<string, Leniencies>()
  const rows = new Map<string, number>()
  const unread = new Map<string, string[]>()
  /** Parts of rows, and keys of records, that later rows replace. */
  const replaced = new Map<Place, Set<string>>()
  const isReplaced = (part: RosterPart, place: Place, key: string | null) => {
    const some = replaced.get(place)
    return some?.has(part) === true || some?.has(`${part} ${key}`) === true
  }
  const current = () => problems.filter(({ part, place }) => part === null || !isReplaced(part, place, null))

  return {
    addProblem(part, place, problem) {
      if (problems.length < maxKept) problems.push({ part, place, problem: { ...place, ...problem } })
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
    addReplaced(part, place, key) {
      const known = replaced.get(place) ?? new Set<string>()
      replaced.set(place, known.add(key === undefined ? part : `${part} ${key}`))
    },
    findings: {
      problems: () => current().map(({ problem }) => problem),
      problemCount: () => current().length + uncounted,
      warnings: () => warnings,
      warningCount: () => warningCount,
      notes: () => [...leniencies.values()].flatMap((each) => each.notes()),
      isReplaced: ({ dataset, place, key }) => isReplaced(dataset, place, key),
      rowCount: (file) => rows.get(file) ?? 0,
      unreadColumns: (file) => unread.get(file) ?? [],
    },
  }
}
