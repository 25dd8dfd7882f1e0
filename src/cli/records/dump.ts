import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { makeDirectory } from '../../config/files.ts'
import { loadYaml } from '../output/formats/documents.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { openTarget, type TargetFile, writeTarget } from '../terminal/target-file.ts'
import { withoutDefaults } from './compare.ts'
import { loadPart, type Part } from './entries.ts'
import { shownIn } from './finder.ts'
import { keyIn } from './identity.ts'
import { formatVersion, type PartName, partSchemas, withoutVariables } from './sources/academy-document.ts'
import { documentOf } from './sources/course.ts'
import type { Writer } from './write.ts'

interface Chunk {
  readonly part: PartName
  readonly records: readonly JsonObject[]
}

const chunkSize = 100

/**
 * Yields an academy in the form of files: terms and users, by their addresses, courses with their lessons, groups with their members, then enrolments,
 * progress steps and grades course by course. The order is stable, and only one course is in memory at a time.
 * Deleted users and their records are left out.
 */
export async function* academyChunks(reader: Writer): AsyncGenerator<Chunk> {
  const deleted = new Set<unknown>()
  const users = await loadPart('users')
  for await (const { id } of shownIn(reader, users, { status: 'deleted' })) deleted.add(id)
  yield* inChunks('terms', termRecords())
  yield* inChunks('users', recordsOf())
  const courses: { readonly id: string; readonly key: string; readonly shown: JsonObject }[] = []
  const dataset = await loadPart('courses')
  for await (const shown of shownIn(reader, dataset)) {
    const key = keyIn('courses', await dataset.toRecord(shown, reader.names)) ?? ''
    courses.push({ id: String(shown['id']), key, shown })
  }
  courses.sort((one, other) => (one.key < other.key ? -1 : 1))
  for (const { shown } of courses) yield { part: 'courses', records: [await courseOf(reader, shown)] }
  yield* inChunks('groups', groupRecords())
  for (const part of ['enrollments', 'progress', 'grades'] as const) {
    for (const { id } of courses) yield* inChunks(part, inCourse(part, id))
  }

  async function* termRecords(): AsyncGenerator<JsonObject> {
    const terms = await loadPart('terms')
    const records: JsonObject[] = []
    for await (const shown of shownIn(reader, terms)) records.push(await terms.toRecord(shown, reader.names))
    yield* inKeyOrder('terms', records)
  }

  async function* groupRecords(): AsyncGenerator<JsonObject> {
    const [groups, memberships] = [await loadPart('groups'), await loadPart('memberships')]
    const members = new Map<unknown, string[]>()
    const records: JsonObject[] = []
    for await (const shown of shownIn(reader, memberships)) {
      const { userId } = await memberships.toRecord(shown, reader.names)
      const own = members.get(shown['groupId']) ?? []
      members.set(shown['groupId'], own)
      own.push(String(userId))
    }
    for await (const shown of shownIn(reader, groups)) {
      const record = await groups.toRecord(shown, reader.names)
      records.push({ ...record, members: (members.get(shown['id']) ?? []).sort() })
    }
    yield* inKeyOrder('groups', records)
  }

  async function* recordsOf(): AsyncGenerator<JsonObject> {
    for await (const shown of shownIn(reader, users, { sort: 'email', include_deleted: 'false' })) {
      yield await users.toRecord(shown, reader.names)
    }
  }

  async function learnersIn(courseId: string): Promise<ReadonlySet<unknown>> {
    const ids = new Set<unknown>()
    const inside = await loadPart('enrollments')
    for await (const { userId, role } of shownIn(reader, inside, { course_id: courseId })) {
      if (role === 'learner') ids.add(userId)
    }
    return ids
  }

  async function* inCourse(
    part: 'enrollments' | 'progress' | 'grades',
    courseId: string,
  ): AsyncGenerator<JsonObject> {
    const inside = await loadPart(part)
    const user = part === 'enrollments' ? 'userId' : 'learnerId'
    const records: JsonObject[] = []
    const { history } = inside.operations
    let learners: ReadonlySet<unknown> | null = null
    for await (const shown of shownIn(reader, inside, { course_id: courseId }, history)) {
      if (deleted.has(shown[user])) continue
      // Grades require an enrolment: leave out grades of users who have none.
      if (part === 'grades') learners ??= await learnersIn(courseId)
      if (learners?.has(shown[user]) !== false) records.push(await inside.toRecord(shown, reader.names))
    }
    yield* inKeyOrder(part, records)
  }
}

function inKeyOrder(part: Part, records: JsonObject[]): JsonObject[] {
  const order = (record: JsonObject) => keyIn(part, record) ?? ''
  return records.sort((one, other) => (order(one) < order(other) ? -1 : 1))
}

async function courseOf(reader: Writer, shown: JsonObject): Promise<JsonObject> {
  const [courses, lessons] = [await loadPart('courses'), await loadPart('lessons')]
  const inside: JsonObject[] = []
  for await (const lesson of shownIn(reader, lessons, { course_id: String(shown['id']), sort: 'order' })) {
    inside.push(await lessons.toRecord(lesson, reader.names))
  }
  return documentOf({ course: await courses.toRecord(shown, reader.names), lessons: inside })
}

async function* inChunks(part: PartName, records: AsyncIterable<JsonObject>): AsyncGenerator<Chunk> {
  let held: JsonObject[] = []
  for await (const record of records) {
    // The result of an object is an object.
    held.push(withoutDefaults(partSchemas[part], record) as JsonObject)
    if (held.length < chunkSize) continue
    yield { part, records: held }
    held = []
  }
  if (held.length > 0) yield { part, records: held }
}

/** Counts records as `validate` does: lessons beside their courses, and progress without its earlier steps. */
export function createRecordCounter() {
  const counts = new Map<Part, number>()
  /** Key of the last progress record, whose steps follow each other. */
  let last: string | null = null
  const count = (part: Part, more: number) => {
    if (more > 0) counts.set(part, (counts.get(part) ?? 0) + more)
  }
  return {
    counts,
    add({ part, records }: Chunk): void {
      if (part !== 'progress') count(part, records.length)
      for (const record of records) {
        if (part === 'courses') count('lessons', lessonsIn(record))
        if (part !== 'progress') continue
        const key = keyIn(part, record)
        if (key !== last) count(part, 1)
        last = key
      }
    },
  }
}

function lessonsIn({ lessons, modules }: JsonObject): number {
  const inModules = Array.isArray(modules) ? modules.filter(isJsonObject).map(lessonsIn) : []
  return (Array.isArray(lessons) ? lessons.length : 0) + inModules.reduce((sum, each) => sum + each, 0)
}

/** Leaves out parts without records. */
export async function* yamlText(chunks: AsyncIterable<Chunk>): AsyncGenerator<string> {
  const yaml = (await loadYaml()).list()
  const head = `learnctl: ${formatVersion}\n`
  let before: PartName | null = null
  for await (const { part, records } of chunks) {
    if (part !== before) yield `${before === null ? head : ''}${part}:\n`
    before = part
    yield yaml.rows(records.map(withoutVariables))
  }
  if (before === null) yield head
}

export async function* jsonDocument(chunks: AsyncIterable<Chunk>): AsyncGenerator<string> {
  const head = `{"learnctl": ${formatVersion}`
  let before: PartName | null = null
  for await (const { part, records } of chunks) {
    if (part !== before) yield `${before === null ? head : '\n]'},\n"${part}": [\n`
    const lines = records.map((record) => jsonText(withoutVariables(record))).join(',\n')
    yield part === before ? `,\n${lines}` : lines
    before = part
  }
  yield `${before === null ? head : '\n]'}}\n`
}

/** `academy.yaml`, a table (JSONL) for each part, and a file for each course. Throws a UsageError for a filled folder. */
export async function dumpFolder(
  { cwd }: Io,
  folder: string,
  chunks: AsyncIterable<Chunk>,
  force: boolean,
): Promise<void> {
  const there = await readdir(resolve(cwd, folder)).catch(() => [])
  if (there.length > 0 && !force) {
    throw new UsageError(`${folder} is not empty`, { hint: 'Use --force to overwrite files in it' })
  }
  makeDirectory(resolve(cwd, folder, 'courses'), null)
  const options = { force, mode: 0o600 }
  const tables = new Map<PartName, TargetFile>()
  const names = new Set<string>()
  try {
    for await (const { part, records } of chunks) {
      if (part === 'courses') {
        for (const record of records) await writeCourse(record)
        continue
      }
      const table = tables.get(part) ?? (await openTarget(cwd, join(folder, `${part}.jsonl`), options))
      tables.set(part, table)
      await table.write(Buffer.from(records.map((record) => `${jsonText(record)}\n`).join('')))
    }
    for (const table of tables.values()) await table.finish()
  } catch (error) {
    await Promise.all([...tables.values()].map((table) => table.discard()))
    throw error
  }
  const parts = [...tables.keys()].map((part) => `${part}:\n  file: ${part}.jsonl\n`)
  await writeTarget(cwd, join(folder, 'academy.yaml'), [`learnctl: ${formatVersion}\n`, ...parts], options)

  async function writeCourse(record: JsonObject): Promise<void> {
    async function* one(): AsyncGenerator<Chunk> {
      yield { part: 'courses', records: [record] }
    }
    const name = `${fileNameOf(String(record['externalId']), names)}.yaml`
    await writeTarget(cwd, join(folder, 'courses', name), yamlText(one()), options)
  }
}

function fileNameOf(externalId: string, taken: Set<string>): string {
  const plain = externalId.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 80) || 'course'
  let name = plain
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${plain}-${number}`
  taken.add(name.toLowerCase())
  return name
}
