import type { Caller } from '../../client/caller.ts'
import type { BatchResult } from '../../contract/batch.ts'
import { CommandError } from '../terminal/errors.ts'
import type { ExampleData } from './example-data.ts'

const batchSize = 500

/** How many of each kind the examples have. */
export interface ExampleCounts {
  readonly courses: number
  readonly learners: number
  readonly enrollments: number
  readonly progress: number
  readonly grades: number
}

/** True when the examples are in the academy, all of them: their courses are published last. */
export async function hasExamples(caller: Caller, { courses: examples }: ExampleData): Promise<boolean> {
  const { courses } = (await import('../../contract/calls.ts')).calls
  for (const { externalId } of examples) {
    const query = { external_id: externalId, status: 'published,archived' }
    const { data } = await caller.call(courses.list, { query })
    if (data.data.length === 0) return false
  }
  return true
}

/**
 * Puts the examples into an academy. Begun once before and broken off, it goes on where it stopped.
 * Throws a CommandError on a row that the academy refuses.
 */
export async function loadExamples(caller: Caller, data: ExampleData): Promise<ExampleCounts> {
  const { courses, users, enrollments, progress, grades } = (await import('../../contract/calls.ts')).calls
  for (const course of data.courses) {
    const { data: known } = await caller.call(courses.list, { query: { external_id: course.externalId } })
    if (known.data.length === 0) await caller.call(courses.create, { body: course })
  }
  for (const items of batches(data.users)) {
    accept(await caller.call(users.batch, { body: { items, onExists: 'skip' } }))
  }
  for (const items of batches(data.enrollments)) {
    accept(await caller.call(enrollments.batch, { body: { items, onExists: 'skip' } }))
  }
  for (const items of batches(data.progress)) {
    // A step that is older than what is stored was there before.
    accept(await caller.call(progress.batch, { body: { items } }), 'stale_progress')
  }
  for (const items of batches(data.grades)) {
    accept(await caller.call(grades.batch, { body: { items } }), 'stale_grade')
  }
  for (const { externalId } of data.courses) {
    await caller.call(courses.update, {
      params: { courseId: `ext:${externalId}` },
      body: { status: 'published' },
    })
  }
  return {
    courses: data.courses.length,
    learners: data.users.length,
    enrollments: data.enrollments.length,
    progress: data.progress.length,
    grades: data.grades.length,
  }
}

function batches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / batchSize)
  return Array.from({ length: count }, (_, index) => items.slice(index * batchSize, (index + 1) * batchSize))
}

function accept({ data }: { data: BatchResult }, harmless?: string): void {
  const refused = data.results.find(({ status, code }) => status >= 400 && code !== harmless)
  if (refused) {
    throw new CommandError(
      'example_refused',
      'failure',
      `Example data was refused: ${refused.detail ?? refused.code}`,
    )
  }
}
