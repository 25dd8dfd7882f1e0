import { readFile } from 'node:fs/promises'
import { removeGuard } from '../../codec/csv.ts'
import type { EnrollmentInput } from '../../contract/enrollments.ts'
import type { GradeInput } from '../../contract/grades.ts'
import type { ProgressItem } from '../../contract/progress.ts'
import type { UserInput } from '../../contract/users.ts'

/** By column name. */
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
