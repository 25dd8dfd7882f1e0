import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { type ImportFile, inspectFile } from '../records/sources/file.ts'
import { note } from '../terminal/io.ts'
import { type PulledRecords, pullRecords } from './pull-records.ts'
import { resolveRecords } from './resolve-records.ts'

/**
 * Reads the grades of another system, through the integration of the target, as a file of grades to import. Courses and
 * learners are found by the mappings of the integration, else by the external ids of its rosters; people without one are
 * known by their e-mail addresses.
 */
export async function openIntegrationGrades(context: Context, kind: LmsKind): Promise<ImportFile> {
  const pulled = await pullRecords(context, kind, new Set(['users', 'courses', 'items', 'grades']))
  const { records, notes } = resolveRecords(pulled)
  const mapped = await readMapped(context, kind)
  const courses = referencesOf(pulled, 'courses', mapped)
  const users = referencesOf(pulled, 'users', mapped)
  const lines = (records.get('grades') ?? []).map(({ courseId, learnerId, ...grade }) =>
    JSON.stringify({
      ...{ learnerId: users(String(learnerId)), courseId: courses(String(courseId)) },
      ...grade,
      ...(Number(grade['scoreGiven']) > Number(grade['scoreMaximum']) && { extraCredit: true }),
      // Grades that arrive as events have the same source.
      source: kind,
    }),
  )
  for (const text of notes) await note(context.io, text)
  const content = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  async function* bytes() {
    yield content
  }
  return inspectFile({ name: `${kind}-grades`, path: null, bytes }, { format: 'jsonl' })
}

/** By noun and id in the other system. */
async function readMapped({ session }: Context, kind: LmsKind): Promise<ReadonlyMap<string, string>> {
  const [{ calls }, caller] = await Promise.all([import('../../contract/calls.ts'), session.caller()])
  const mapped = new Map<string, string>()
  for await (const { data } of caller.pages(calls.integrations.mappings, {
    params: { lmsKind: kind },
    query: { limit: 100 },
  })) {
    for (const mapping of data) {
      if (!isJsonObject(mapping) || mapping['targetStatus'] !== 'active') continue
      mapped.set(`${mapping['noun']} ${mapping['externalKey']}`, String(mapping['reference']))
    }
  }
  return mapped
}

function referencesOf(
  { records }: PulledRecords,
  part: 'courses' | 'users',
  mapped: ReadonlyMap<string, string>,
): (externalId: string) => string {
  const noun = part === 'courses' ? 'course' : 'user'
  const known = new Map(
    (records.get(part) ?? []).map(({ id, record }) => [
      String(record['externalId']),
      mapped.get(`${noun} ${id}`) ?? addressOf(id, record),
    ]),
  )
  return (externalId) => known.get(externalId) ?? `ext:${externalId}`
}

/** Returns the reference of a person by e-mail address, if the other system has no external id of the person. */
function addressOf(id: string | null, { externalId, email }: JsonObject): string | undefined {
  return externalId === id && typeof email === 'string' ? `email:${email}` : undefined
}
