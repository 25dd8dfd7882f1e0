import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { escapeHidden } from '../../codec/display-text.ts'
import type { Bucket, Summary } from '../../contract/analytics.ts'
import type { EncodedColumn } from '../../tables/column.ts'

interface Figure {
  readonly section: 'all' | 'distribution' | 'gradeDistribution' | 'course'
  readonly name: string
  readonly measure: string
  readonly value: number | null
}

export const figureColumns = [
  {
    name: 'section',
    path: 'section',
    type: 'string',
    meaning:
      'all for the figures of all enrolments, distribution for enrolments by percentage completed, gradeDistribution for graded ones by grade, course for the figures of a course',
  },
  {
    name: 'name',
    path: 'name',
    type: 'string',
    meaning: 'Range of percentages, or title and id of the course',
  },
  { name: 'measure', path: 'measure', type: 'string', meaning: 'Name of the figure, as in the API' },
  {
    name: 'value',
    path: 'value',
    type: 'number',
    meaning: 'A count, or a percentage from 0 to 100; a completionRate is a share from 0 to 1',
    nullMeans: 'no enrolments, or no grades',
  },
] as const satisfies readonly EncodedColumn[]

const ranges = Array.from({ length: 10 }, (_, tenth) =>
  tenth === 9 ? '90–100' : `${tenth * 10}–${tenth * 10 + 9}`,
)
const unstarted = 'Not started'

/**
 * Counts enrolments by percentage. Those that have not started are at 0% too, but are counted apart from the
 * lowest tenth.
 */
function distributionOf({ distribution, notStarted }: Summary): (readonly [range: string, count: number])[] {
  const started = distribution.map((count, tenth) => (tenth === 0 ? Math.max(0, count - notStarted) : count))
  return [[unstarted, notStarted], ...started.map((count, tenth) => [ranges[tenth] ?? '', count] as const)]
}

/** Returns the graded enrolments by grade; none without grades, and of platforms that do not tell. */
function gradesOf({ graded, gradeDistribution }: Summary): (readonly [range: string, count: number])[] {
  if (!graded) return []
  return gradeDistribution
    .filter(({ to, count }) => to !== null || count > 0)
    .map((bucket) => [rangeOf(bucket), bucket.count] as const)
}

function rangeOf({ from, to }: Bucket): string {
  if (to === null) return `>${from}`
  return `${from}–${to === 100 ? to : to - 1}`
}

export function figuresOf(summary: Summary): Figure[] {
  const {
    distribution: _,
    completionDistribution: _completion,
    gradeDistribution: _grades,
    byCourse,
    ...all
  } = summary
  const rows = (section: Figure['section'], name: string, figures: object) =>
    Object.entries(figures).map(([measure, value]) => ({
      section,
      name,
      measure,
      value: value as number | null,
    }))
  return [
    ...rows('all', '', all),
    ...distributionOf(summary).flatMap(([range, enrollments]) =>
      rows('distribution', range, { enrollments }),
    ),
    ...gradesOf(summary).flatMap(([range, enrollments]) => rows('gradeDistribution', range, { enrollments })),
    ...byCourse.flatMap(({ courseId, courseTitle, ...figures }) =>
      rows('course', `${courseTitle} (${courseId})`, figures),
    ),
  ]
}

export function drawSummary(summary: Summary, width: number, chalk: ChalkInstance): string {
  return [
    headline(summary, width, chalk),
    summary.enrollments === 0
      ? ''
      : chart('Enrolments by percentage completed', distributionOf(summary), width, chalk),
    chart('Graded enrolments by grade', gradesOf(summary), width, chalk),
    courseChart(summary, width, chalk),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n')
}

function headline(summary: Summary, width: number, chalk: ChalkInstance): string {
  const counts = [
    ['Learners', summary.learners ?? '–'],
    ['Enrolments', summary.enrollments],
    ['Completed', summary.completed],
    ['In progress', summary.inProgress],
    ['Not started', summary.notStarted],
  ] as const
  const averages = [
    ['Average completion', percent(summary.averageCompletionPercentage)],
    ['Median completion', percent(summary.medianCompletionPercentage)],
    ['Average grade', percent(summary.averageGradePercent)],
  ] as const
  const grades = summary.graded
    ? ([
        ['Median grade', percent(summary.medianGradePercent)],
        ['Graded', summary.graded],
        ['Passed', `${summary.passed} (${percent(summary.passRate)})`],
      ] as const)
    : []
  return [counts, averages, grades]
    .filter((figures) => figures.length > 0)
    .map((figures) => flow(figures, width, chalk))
    .join('\n')
}

function flow(
  figures: readonly (readonly [name: string, value: string | number])[],
  width: number,
  chalk: ChalkInstance,
): string {
  let text = ''
  let column = 0
  for (const [name, value] of figures) {
    const length = `${name} ${value}`.length
    const fits = column > 0 && column + 3 + length <= width
    text += `${fits ? '   ' : column > 0 ? '\n' : ''}${name} ${chalk.bold(value)}`
    column = fits ? column + 3 + length : length
  }
  return text
}

function chart(
  title: string,
  rows: readonly (readonly [range: string, count: number])[],
  width: number,
  chalk: ChalkInstance,
): string {
  if (rows.length === 0) return ''
  const most = Math.max(1, ...rows.map(([, count]) => count))
  const digits = String(most).length
  const room = Math.max(10, Math.min(60, width - 14 - digits))
  const lines = rows.map(([range, count]) => {
    const label = range === unstarted ? range : `${range}%`
    const figure = String(count).padStart(digits)
    return `${label.padStart(11)}  ${figure} ${chalk.cyan(bar(count / most, room))}`.trimEnd()
  })
  return [chalk.bold(title), ...lines].join('\n')
}

function courseChart({ byCourse }: Summary, width: number, chalk: ChalkInstance): string {
  if (byCourse.length === 0) return ''
  const titles = byCourse.map(({ courseTitle }) => escapeHidden(courseTitle))
  const figures = ['Enrolled', 'Completed', 'Grade', 'Average completion']
  const longest = Math.max(6, ...titles.map((title) => stringWidth(title)))
  const titleWidth = Math.min(longest, Math.max(16, width - 50))
  const room = Math.max(8, Math.min(40, width - titleWidth - 40))
  const head = `${padded('Course', titleWidth)}  ${figures[0]}  ${figures[1]}    ${figures[2]}  ${figures[3]}`
  const lines = byCourse.map((course, index) => {
    const average = course.averageCompletionPercentage
    const cells = [
      padded(titles[index] ?? '', titleWidth),
      String(course.enrollments).padStart(8),
      String(course.completed).padStart(9),
      percent(course.averageGradePercent).padStart(7),
      `${percent(average).padStart(7)} ${chalk.cyan(bar((average ?? 0) / 100, room))}`,
    ]
    return cells.join('  ').trimEnd()
  })
  return [chalk.bold(head), ...lines].join('\n')
}

/** 99.97 must not become 100. */
function percent(value: number | null): string {
  if (value === null) return '–'
  return `${(value < 100 ? Math.min(value, 99.9) : value).toFixed(1)}%`
}

function padded(text: string, width: number): string {
  let cut = text
  while (stringWidth(cut) > width) cut = `${cut.replace(/…$/, '').slice(0, -1)}…`
  return cut + ' '.repeat(Math.max(0, width - stringWidth(cut)))
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/**
 * Draws a horizontal bar of block characters, in eighths of a column.
 *
 * @param part fraction of the full length, 0 to 1
 * @param width full length in columns
 */
function bar(part: number, width: number): string {
  const steps = Math.round(Math.min(1, Math.max(0, part)) * width * 8)
  const text = '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '')
  // Any value above 0 must be visible.
  return text === '' && part > 0 ? '▏' : text
}
