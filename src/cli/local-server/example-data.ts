import { readFile } from 'node:fs/promises'
import type { Caller } from '../../client/caller.ts'
import { removeGuard } from '../../codec/csv.ts'
import type { BatchResult } from '../../contract/batch.ts'
import type { EnrollmentInput } from '../../contract/enrollments.ts'
import type { GradeInput } from '../../contract/grades.ts'
import type { ProgressItem } from '../../contract/progress.ts'
import type { UserInput } from '../../contract/users.ts'
import { CommandError } from '../terminal/errors.ts'

const batchSize = 500

interface ExampleCounts {
  readonly courses: number
  readonly learners: number
  readonly enrollments: number
  readonly progress: number
  readonly grades: number
}

/** Courses of examples are published last. */
export async function hasExamples(caller: Caller, { courses: examples }: ExampleData): Promise<boolean> {
  const { courses } = (await import('../../contract/calls.ts')).calls
  for (const { externalId } of examples) {
    const query = { external_id: externalId, status: 'published,archived' } as const
    const { data } = await caller.call(courses.list, { query })
    if (data.data.length === 0) return false
  }
  return true
}

/** Continues an interrupted run. Throws a CommandError on a rejected row. */
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

type Cells = Readonly<Record<string, string>>

/** Real learners of the Open University (src/examples/README.md), in the fields of the API. */
export interface ExampleData {
  readonly courses: readonly {
    externalId: string
    title: string
    description: string
    difficulty: 'intermediate'
    tags: string[]
    assessmentCriteria: { passingScore: number }
  }[]
  readonly users: readonly Pick<UserInput, 'externalId' | 'email' | 'role'>[]
  readonly enrollments: readonly Pick<
    EnrollmentInput,
    'courseId' | 'userId' | 'role' | 'status' | 'enrolledAt'
  >[]
  readonly progress: readonly ProgressItem[]
  readonly grades: readonly GradeInput[]
}

export async function readExampleData(): Promise<ExampleData> {
  const [courses, users, enrollments, progress, grades] = await Promise.all(
    ['courses', 'users', 'enrollments', 'progress', 'grades'].map(readRows),
  )
  return {
    courses: each(courses, (row) => ({
      externalId: cell(row, 'externalId'),
      title: cell(row, 'title'),
      description: cell(row, 'description'),
      difficulty: 'intermediate',
      tags: [cell(row, 'tags')],
      assessmentCriteria: { passingScore: Number(cell(row, 'passingScore')) },
    })),
    users: each(users, (row) => ({
      externalId: cell(row, 'externalId'),
      email: cell(row, 'email'),
      role: 'learner',
    })),
    enrollments: each(enrollments, (row) => ({
      courseId: cell(row, 'courseId'),
      userId: cell(row, 'userId'),
      role: 'learner',
      status: 'active',
      enrolledAt: cell(row, 'enrolledAt'),
    })),
    progress: each(progress, (row) => ({
      learnerId: cell(row, 'learnerId'),
      courseId: cell(row, 'courseId'),
      completionPercentage: Number(cell(row, 'completionPercentage')),
      lastAccessed: cell(row, 'lastAccessed'),
    })),
    grades: each(grades, (row) => ({
      learnerId: cell(row, 'learnerId'),
      courseId: cell(row, 'courseId'),
      source: 'examples',
      itemId: cell(row, 'itemId'),
      label: cell(row, 'label'),
      scoreGiven: Number(cell(row, 'scoreGiven')),
      scoreMaximum: Number(cell(row, 'scoreMaximum')),
      weight: Number(cell(row, 'weight')),
      published: true,
      gradedAt: cell(row, 'gradedAt'),
    })),
  }
}

async function readRows(name: string): Promise<Cells[]> {
  const [text, { parse }] = await Promise.all([
    readFile(new URL(`../../examples/${name}.csv`, import.meta.url)),
    import('csv-parse/sync'),
  ])
  return parse(text, { columns: true, bom: true, cast: removeGuard })
}

function each<Row>(rows: readonly Cells[] | undefined, make: (row: Cells) => Row): Row[] {
  return (rows ?? []).map(make)
}

function cell(row: Cells, name: string): string {
  return row[name] ?? ''
}
