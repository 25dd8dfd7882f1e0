import type { LearnerRow, Summary } from '../../../src/contract/analytics.ts'

/** Returns the summary of these rows by plain arithmetic. */
export function plainSummary(rows: readonly LearnerRow[]): Summary {
  const sorted = rows
    .map(({ completionPercentage }) => completionPercentage)
    .sort((one, other) => one - other)
  const [low = 0, high = 0] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.floor(sorted.length / 2)],
  ]
  const titles = new Map(rows.map(({ courseId, courseTitle }) => [courseId, courseTitle]))
  return {
    learners: new Set(rows.map(({ learnerId }) => learnerId)).size,
    ...figuresOf(rows),
    medianCompletionPercentage: rows.length === 0 ? null : rounded((low + high) / 2),
    distribution: Array.from(
      { length: 10 },
      (_, tenth) => sorted.filter((one) => Math.min(9, Math.floor(one / 10)) === tenth).length,
    ),
    byCourse: [...titles]
      .sort(([, one], [, other]) => (one < other ? -1 : 1))
      .map(([courseId, courseTitle]) => ({
        courseId,
        courseTitle,
        ...figuresOf(rows.filter((row) => row.courseId === courseId)),
      })),
  }
}

function figuresOf(rows: readonly LearnerRow[]) {
  const counted = (status: string) => rows.filter(({ progressStatus }) => progressStatus === status).length
  const grades = rows.flatMap(({ gradePercent }) => (gradePercent === null ? [] : [gradePercent]))
  const completed = counted('completed')
  return {
    enrollments: rows.length,
    notStarted: counted('not_started'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: rows.length === 0 ? null : rounded(completed / rows.length),
    averageCompletionPercentage: mean(rows.map(({ completionPercentage }) => completionPercentage)),
    averageGradePercent: mean(grades),
  }
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
