import { type OneRosterTable, oneRosterTables } from './oneroster-tables.ts'
import type { RosterEntry } from './roster.ts'
import type { CsvRow } from './row.ts'
import { isRemovedRow, type Reading, type RowReader, walk } from './walk.ts'

/** Without classes, references to classes are to courses. */
export function readTable(
  reading: Reading,
  name: OneRosterTable,
  entriesOf: RowReader['entriesOf'],
  more: Pick<RowReader, 'removedNeeds'> = {},
): AsyncGenerator<readonly RosterEntry[]> {
  const form = oneRosterTables[name]
  const hasCoursesOnly = !reading.files.has('classes') && reading.files.has('courses')
  const references = (form.references ?? []).map((each) =>
    hasCoursesOnly && each.to === 'classes' ? { ...each, to: 'courses' } : each,
  )
  const isRemoved = (row: CsvRow) => isRemovedIn(reading, name, row)
  return walk(reading, { ...form, references }, { ...more, entriesOf, isRemoved })
}

const statuses = ['active', 'tobedeleted']
const filledText = 'status or dateLastModified is filled in a bulk file'

/** True if a package removes the class that becomes a course. */
export function isRemovedClass(reading: Reading, id: string): boolean {
  return isRemovedRow(reading, reading.files.has('classes') ? 'classes' : 'courses', id)
}

function isRemovedIn(reading: Reading, table: OneRosterTable, row: CsvRow): boolean {
  const [status, modified] = [row.text('status'), row.text('dateLastModified')]
  const isDelta = reading.mode(table) === 'delta'
  if (isDelta && status === '') row.addLeniency('status is empty in a delta file; read as active')
  if (!isDelta && (status !== '' || modified !== '')) row.addLeniency(filledText)
  const meaning = status.toLowerCase()
  if (!['', ...statuses].includes(meaning))
    row.addChoiceProblem('status', status, 'must be active or tobedeleted', statuses)
  else if (meaning !== status) row.addLeniency('status is not spelled as specified', status)
  return meaning === 'tobedeleted'
}
