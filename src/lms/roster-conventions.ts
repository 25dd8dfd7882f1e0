// Values that exports write where a format requires one and the academy has none. Readers take them as empty, so that a
// school comes back as it was.

/** Written as a name where a format requires one and the user has none. */
export const noName = '-'

/** Session of courses without a term, which OneRoster requires. */
export const noTerm = { id: 'no-term', title: 'No term' } as const

/** First and last day of a session whose term has no such day. */
export const openDays = { startDate: '2000-01-01', endDate: '2099-12-31' } as const

/** Category of line items without a weight of their own, which OneRoster requires. */
export const noCategory = { id: 'no-category', title: 'Grades' } as const

/** Used for the grade of a whole course without a label. */
export const wholeCourseTitle = 'Course grade'

/** Joins parts of a derived id with colons; a colon within a part is escaped, so that different parts give different ids. */
export function joinIds(...parts: readonly string[]): string {
  return parts.map(escapeId).join(':')
}

export function splitIds(id: string): string[] {
  return id.split(':').map(unescapeId)
}

/** An id that does not begin with the course's key is the item itself. */
export function itemIn(lineItemId: string, courseKey: string): string {
  const prefix = `${escapeId(courseKey)}:`
  return lineItemId.startsWith(prefix) ? unescapeId(lineItemId.slice(prefix.length)) : lineItemId
}

function escapeId(part: string): string {
  return /[:%]/.test(part) ? part.replaceAll('%', '%25').replaceAll(':', '%3A') : part
}

function unescapeId(part: string): string {
  return part.replaceAll('%3A', ':').replaceAll('%25', '%')
}
