/** From inclusive, to exclusive; null for no end. */
export interface Bucket {
  readonly from: number
  readonly to: number | null
  readonly count: number
}

interface StatusCounts {
  readonly enrollments: number
  readonly notStarted: number
  readonly inProgress: number
  readonly completed: number
}

/** Percentages are 0–100, and null where there is nothing to count. */
interface Figures extends StatusCounts {
  readonly completionPercentage: number | null
  readonly averageGradePercent: number | null
  readonly graded: number
  readonly passed: number
  readonly passRate: number | null
}

export interface CourseFigures extends Figures {
  readonly courseId: string
  readonly courseTitle: string
}

export interface CourseAttention {
  readonly courseId: string
  readonly courseTitle: string
  readonly courseExternalId: string | null
  readonly inactive: number
  readonly stuck: number
  readonly notPassed: number
}

export interface ActivityPeriod {
  readonly start: string
  readonly end: string
  readonly activeLearners: number
  readonly progressUpdates: number
  readonly completions: number
  readonly grades: number
}

export interface ActivityFigures {
  readonly by: 'day' | 'week' | 'month'
  readonly timeZone: string
  readonly data: readonly ActivityPeriod[]
}

/** In per cent of the maximum score. */
export interface ItemFigures {
  readonly courseId: string
  readonly courseTitle: string
  readonly courseExternalId: string | null
  readonly itemId: string
  readonly itemTitle: string
  readonly count: number
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
  readonly passRate: number
}

/** It names courses and items, never learners. */
export interface ReportFigures {
  readonly generatedAt: string
  /** The period of the activity. */
  readonly start: string
  readonly end: string
  readonly summary: Figures & {
    /** Null if there are too many to count each once. */
    readonly learners: number | null
    readonly medianGradePercent: number | null
    readonly completionDistribution: readonly Bucket[]
    readonly gradeDistribution: readonly Bucket[]
    readonly byCourse: readonly CourseFigures[]
  }
  readonly attention: readonly CourseAttention[]
  readonly activity: ActivityFigures
  /** Activity of the period before, of the same length. */
  readonly activityBefore: ActivityFigures
  /** Items with the lowest pass rate, lowest first. */
  readonly items: readonly ItemFigures[]
  /** Number of items that are left out. */
  readonly moreItems: number
}

export interface ReportOptions {
  /** Title; default: that of the only course, else the words for a report. */
  readonly title?: string | undefined
  /** Language of dates and numbers, and of the words if they are available in it. */
  readonly language: string
  /** Returns the URL of a course; absent for a file, which has no links. */
  readonly courseUrl?: (courseId: string) => string
}

/** In display order, with the words of a report. */
export const reasons = ['inactive', 'stuck', 'notPassed'] as const
export type Reason = (typeof reasons)[number]
