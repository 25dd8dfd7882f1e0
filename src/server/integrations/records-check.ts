import type { RecordPart } from '../../contract/constants.ts'
import type { IntegrationCheck } from '../../contract/integrations.ts'
import { recordSystemOf } from '../../lms/record-systems.ts'
import type { RecordPage } from '../../lms/records.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import type { Integration } from './integration.ts'
import { askForPage } from './read-records.ts'

type Check = IntegrationCheck['checks'][number]

const names: Readonly<Record<RecordPart, string>> = {
  terms: 'terms',
  users: 'users',
  courses: 'courses',
  groups: 'groups',
  memberships: 'members of groups',
  enrollments: 'enrolments',
  items: 'items',
  grades: 'grades',
}

/**
 * Checks which records the token may read: the first page of each list, also of the lists of the first course. An integration
 * for events needs none of them, so that a missing permission is no failure.
 */
export async function checkRecords(
  integration: Integration,
  call: Pick<Call, 'sealing' | 'outgoing' | 'now'>,
): Promise<Check[]> {
  const { lmsKind, baseUrl } = integration
  const system = recordSystemOf(lmsKind)
  if (!system || baseUrl === null) return []

  const read = (part: RecordPart, of: string | null, position: string | null) =>
    askForPage(system, { part, of, position }, integration, call)

  async function ask(part: RecordPart, of: string | null): Promise<RecordPage | string> {
    try {
      const page = await read(part, of, null)
      if (page.records.length > 0 || page.next === null) return page
      // Another list takes the place of the first.
      const more = await read(part, of, page.next)
      return { ...more, notes: [...(page.notes ?? []), ...(more.notes ?? [])] }
    } catch (error) {
      if (error instanceof ProblemError) return error.message.replace(/\.$/, '')
      throw error
    }
  }

  const courses = await ask('courses', null)
  const course = typeof courses === 'string' ? undefined : courses.records.find(({ id }) => id !== null)?.id
  const others = system.lists.filter(
    ({ part, of }) => !(part === 'courses' && of === null) && of !== 'groups',
  )
  const asked = await Promise.all(
    others.flatMap(({ part, of }) => {
      const id = of === null ? null : course
      return id === undefined ? [] : [ask(part, id).then((answer) => ({ part, answer }))]
    }),
  )
  const missing = new Set<string>()
  const seen = new Set<RecordPart>()
  for (const { part, answer } of [{ part: 'courses' as const, answer: courses }, ...asked]) {
    const reasons =
      typeof answer === 'string'
        ? [answer]
        : (answer.notes ?? []).flatMap(({ hides, text }) => (hides ? [text] : []))
    for (const reason of reasons) missing.add(reason)
    if (reasons.length === 0) seen.add(part)
  }
  const shown = [...seen].map((part) => names[part]).join(', ')
  return [
    missing.size === 0
      ? { name: 'records', status: 'ok', detail: `${shown} can be read` }
      : { name: 'records', status: 'skipped', detail: [...missing].join('; ') },
  ]
}
