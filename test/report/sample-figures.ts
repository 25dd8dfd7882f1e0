import type { Report } from '../../src/contract/analytics.ts'
import type { Activity } from '../../src/contract/questions.ts'

type CourseFigures = Report['summary']['byCourse'][number]

/** Figures of a course: 20 enrolments, half of them completed, 10 graded. */
export function courseFigures(courseTitle: string, passed = 8, completed = 10): CourseFigures {
  return {
    courseId: `crs_${courseTitle.length}_${courseTitle.slice(0, 20)}`,
    courseTitle,
    enrollments: 20,
    notStarted: 4,
    inProgress: 16 - completed,
    completed,
    completionRate: completed / 20,
    averageCompletionPercentage: 60,
    completionPercentage: (100 * completed) / 20,
    averageGradePercent: 71.25,
    graded: 10,
    passed,
    passRate: passed * 10,
  }
}

/** Activity of three weeks from 5 October 2026, each with so many active learners. */
export function weeksOf(...learners: readonly number[]): Activity {
  const weekMs = 7 * 24 * 60 * 60 * 1000
  const from = Date.parse('2026-10-05T00:00:00Z')
  return {
    by: 'week',
    timeZone: 'UTC',
    data: learners.map((activeLearners, index) => ({
      period: `2026-W${41 + index}`,
      start: new Date(from + index * weekMs).toISOString(),
      end: new Date(from + (index + 1) * weekMs).toISOString(),
      activeLearners,
      progressUpdates: 3 * activeLearners,
      completions: activeLearners === 0 ? 0 : 1,
      grades: activeLearners === 0 ? 0 : 2,
    })),
  }
}

/** Figures of an academy with these courses. */
export function figuresOf(courses: readonly CourseFigures[], changed: Partial<Report> = {}): Report {
  const sum = (name: 'enrollments' | 'notStarted' | 'inProgress' | 'completed' | 'graded' | 'passed') =>
    courses.reduce((total, course) => total + course[name], 0)
  const [enrollments, graded, passed, completed] = [
    sum('enrollments'),
    sum('graded'),
    sum('passed'),
    sum('completed'),
  ]
  const ranges = Array.from({ length: 10 }, (_, tenth) => ({ from: 10 * tenth, to: 10 * tenth + 10 }))
  return {
    generatedAt: '2026-10-26T09:30:00.000Z',
    start: '2026-10-05T00:00:00.000Z',
    end: '2026-10-26T00:00:00.000Z',
    summary: {
      learners: enrollments,
      enrollments,
      notStarted: sum('notStarted'),
      inProgress: sum('inProgress'),
      completed,
      completionRate: enrollments === 0 ? null : completed / enrollments,
      averageCompletionPercentage: enrollments === 0 ? null : 60,
      medianCompletionPercentage: enrollments === 0 ? null : 60,
      distribution: ranges.map(() => 1),
      completionPercentage: enrollments === 0 ? null : (100 * completed) / enrollments,
      averageGradePercent: graded === 0 ? null : 71.25,
      medianGradePercent: graded === 0 ? null : 72.5,
      graded,
      passed,
      passRate: graded === 0 ? null : (100 * passed) / graded,
      completionDistribution: ranges.map((range, tenth) => ({
        ...range,
        count: tenth === 9 ? completed : tenth,
      })),
      gradeDistribution: [
        ...ranges.map((range) => ({ ...range, count: 1 })),
        { from: 100, to: null, count: 0 },
      ],
      byCourse: [...courses],
    },
    attention: courses.map(({ courseId, courseTitle }, index) => ({
      courseId,
      courseTitle,
      courseExternalId: `EXT-${index}`,
      inactive: Math.max(0, 3 - index),
      stuck: 1,
      notPassed: 2,
    })),
    activity: weeksOf(30, 40, 50),
    activityBefore: weeksOf(50, 50, 50),
    items: courses.map(({ courseId, courseTitle }, index) => ({
      courseId,
      courseTitle,
      courseExternalId: null,
      itemId: `item-${index}`,
      itemTitle: `Essay ${index + 1}`,
      lessonId: null,
      count: 10,
      mean: 50,
      median: 48.5,
      lowerQuartile: 40,
      upperQuartile: 60,
      passRate: Math.min(100, 30 + 10 * index),
    })),
    moreItems: 0,
    ...changed,
  }
}
