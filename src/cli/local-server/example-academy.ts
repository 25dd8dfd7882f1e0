import type { Caller } from '../../client/caller.ts'
import type { BatchResult } from '../../contract/batch.ts'
import { CommandError } from '../terminal/errors.ts'
import type { ExampleData } from './example-data.ts'

const batchSize = 500

interface ExampleCounts {
  readonly courses: number
  readonly learners: number
  readonly enrollments: number
  readonly progress: number
  readonly grades: number
}

/** True if the academy contains all examples; their courses are published last. */
export async function hasExamples(caller: Caller, { courses: examples }: ExampleData): Promise<boolean> {
  const { courses } = (await import('../../contract/calls.ts')).calls
  for (const { externalId } of examples) {
    const query = { external_id: externalId, status: 'published,archived' } as const
    const { data } = await caller.call(courses.list, { query })
    if (data.data.length === 0) return false
  }
  return true
}

/**
 * Loads the examples into an academy; continues an interrupted run. Throws a CommandError on a rejected row.
 */
export async function loadExamples(caller: Caller, data: ExampleData): Promise<ExampleCounts> {
  const { courses, users, enrollments, progress, grades } = (await import('../../contract/calls.ts')).calls
  for (const course of data.courses) {
    const { data: known } = await caller.call(courses.list, { query: { external_id: course.externalId } })
    if (known.data.length === 0) await caller.call(courses.create, { body: course })
  }
  for (const items of batches(data.users)) {
    assertAccepted(await caller.call(users.batch, { body: { items, onExists: 'skip' } }))
  }
  for (const items of batches(data.enrollments)) {
    assertAccepted(await caller.call(enrollments.batch, { body: { items, onExists: 'skip' } }))
  }
  for (const items of batches(data.progress)) {
    // Older progress than the stored one was loaded by an interrupted run.
    assertAccepted(await caller.call(progress.batch, { body: { items } }), 'stale_progress')
  }
  for (const items of batches(data.grades)) {
    assertAccepted(await caller.call(grades.batch, { body: { items } }), 'stale_grade')
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

function assertAccepted({ data }: { data: BatchResult }, harmless?: string): void {
  const refused = data.results.find(({ status, code }) => status >= 400 && code !== harmless)
  if (refused) {
    throw new CommandError(
      'example_refused',
      'failure',
      `Example data was refused: ${refused.detail ?? refused.code}`,
    )
  }
}
