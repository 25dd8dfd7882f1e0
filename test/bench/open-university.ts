import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'

type Row = Readonly<Record<string, string>>

const dayMs = 86_400_000

/**
 * Writes the Open University Learning Analytics Dataset (Kuzilek, Hlosta, Zdrahal 2017, Scientific Data 4:170171, CC BY
 * 4.0) as an academy: presentations are courses, registrations are enrolments, and each scored assessment is a step of
 * progress, weighted by its share. Returns the number of records.
 *
 * @param from folder of its CSV files, which may have fewer rows
 */
export function writeOpenUniversity(
  from: string,
  to: string,
): { readonly records: number; readonly steps: number } {
  const read = (name: string): Row[] =>
    parse(readFileSync(join(from, `${name}.csv`)), { columns: true, bom: true })
  const courseOf = (row: Row) => `${row['code_module']}-${row['code_presentation']}`
  const courses = read('courses')
  const registrations = read('studentRegistration')
  const assessments = new Map(read('assessments').map((row) => [row['id_assessment'], row]))
  const totals = new Map<string, number>()
  for (const row of assessments.values()) {
    totals.set(courseOf(row), (totals.get(courseOf(row)) ?? 0) + Number(row['weight']))
  }
  const counts = Map.groupBy(assessments.values(), courseOf)
  const weightOf = (row: Row) => {
    const total = totals.get(courseOf(row)) ?? 0
    return total > 0 ? Number(row['weight']) / total : 1 / (counts.get(courseOf(row))?.length ?? 1)
  }
  const students = [...new Set(registrations.map((row) => row['id_student']))]

  const steps = read('studentAssessment')
    .map((row) => ({ row, assessment: assessments.get(row['id_assessment']) ?? {} }))
    .sort((one, other) => Number(one.row['date_submitted']) - Number(other.row['date_submitted']))
  const done = new Map<string, number>()
  const progress = steps.map(({ row, assessment }) => {
    const key = `${courseOf(assessment)} ${row['id_student']}`
    const part = Math.min(1, (done.get(key) ?? 0) + weightOf(assessment))
    done.set(key, part)
    const time = timeOf(String(assessment['code_presentation']), row['date_submitted'])
    return `ext:${row['id_student']},ext:${courseOf(assessment)},${Math.round(part * 10_000) / 100},${time}`
  })

  const table = (name: string, header: string, lines: readonly string[]) =>
    writeFileSync(join(to, `${name}.csv`), `${[header, ...lines].join('\n')}\n`)
  table(
    'users',
    'externalId,email',
    students.map((id) => `${id},oulad-${id}@example.org`),
  )
  table(
    'enrollments',
    'courseId,userId,enrolledAt',
    registrations.map((row) => {
      const time = timeOf(String(row['code_presentation']), row['date_registration'] || '0')
      return `ext:${courseOf(row)},ext:${row['id_student']},${time}`
    }),
  )
  table('progress', 'learnerId,courseId,completionPercentage,lastAccessed', progress)
  const declared = courses.map((row) => ({
    externalId: courseOf(row),
    title: `Module ${row['code_module']}, presentation ${row['code_presentation']}`,
    difficulty: 'intermediate',
    status: 'published',
    tags: ['open-university'],
  }))
  const tables = Object.fromEntries(
    ['users', 'enrollments', 'progress'].map((name) => [name, { file: `${name}.csv` }]),
  )
  writeFileSync(join(to, 'academy.json'), JSON.stringify({ learnctl: 1, courses: declared, ...tables }))
  return {
    records: students.length + registrations.length + courses.length + done.size,
    steps: progress.length,
  }
}

/** Days count from the start of a presentation: B in February, J in October. */
function timeOf(presentation: string, day: string | undefined): string {
  const month = presentation.endsWith('B') ? 1 : 9
  return new Date(Date.UTC(Number(presentation.slice(0, 4)), month, 1) + Number(day) * dayMs).toISOString()
}
