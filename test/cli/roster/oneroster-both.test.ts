import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'
import { gradebook, makeSchool, openClient, rostering } from '../../server/oneroster/one-roster.ts'

type Row = Readonly<Record<string, string>>
type Shown = Readonly<Record<string, unknown>>

const idIn = (value: unknown): string => String((value as Shown | undefined)?.['sourcedId'] ?? '')

/** Lists of the REST interface, and what the cells of a package say of the same records. */
const lists: readonly (readonly [file: string, path: string, cellsOf: (shown: Shown) => Row])[] = [
  ['orgs', `${rostering}/orgs`, ({ name, type }) => ({ name: String(name), type: String(type) })],
  [
    'academicSessions',
    `${rostering}/academicSessions`,
    ({ title, startDate, endDate, schoolYear }) => ({
      ...{ title: String(title), startDate: String(startDate), endDate: String(endDate) },
      schoolYear: String(schoolYear),
    }),
  ],
  [
    'courses',
    `${rostering}/courses`,
    ({ title, org }) => ({ title: String(title), orgSourcedId: idIn(org) }),
  ],
  [
    'classes',
    `${rostering}/classes`,
    ({ title, course, school, terms }) => ({
      ...{ title: String(title), courseSourcedId: idIn(course), schoolSourcedId: idIn(school) },
      termSourcedIds: idIn((terms as unknown[])[0]),
    }),
  ],
  [
    'users',
    `${rostering}/users`,
    ({
      username,
      givenName,
      familyName,
      email,
      enabledUser,
      preferredFirstName = '',
      preferredLastName = '',
    }) => ({
      ...{ username: String(username), givenName: String(givenName), familyName: String(familyName) },
      ...{ email: String(email), enabledUser: String(enabledUser) },
      ...{ preferredGivenName: String(preferredFirstName), preferredFamilyName: String(preferredLastName) },
    }),
  ],
  [
    'enrollments',
    `${rostering}/enrollments`,
    ({ class: of, user, role, primary, beginDate }) => ({
      ...{ classSourcedId: idIn(of), userSourcedId: idIn(user), role: String(role) },
      ...{ primary: String(primary), beginDate: String(beginDate) },
    }),
  ],
  [
    'categories',
    `${gradebook}/categories`,
    ({ title, weight = '' }) => ({ title: String(title), weight: String(weight) }),
  ],
  [
    'lineItems',
    `${gradebook}/lineItems`,
    ({ title, class: of, category, academicSession, resultValueMax }) => ({
      ...{ title: String(title), classSourcedId: idIn(of), categorySourcedId: idIn(category) },
      ...{ academicSessionSourcedId: idIn(academicSession), resultValueMax: String(resultValueMax) },
    }),
  ],
  [
    'results',
    `${gradebook}/results`,
    ({ lineItem, student, score, scoreStatus, scoreDate }) => ({
      ...{ lineItemSourcedId: idIn(lineItem), studentSourcedId: idIn(student), score: String(score) },
      ...{ scoreStatus: String(scoreStatus), scoreDate: String(scoreDate) },
    }),
  ],
]

test('a package and the REST interface of an academy say the same', { tags: ['slow'] }, async ({
  remote,
  academy,
  admin,
  clock,
}) => {
  await makeSchool(admin)
  for (const [learnerId, itemId, scoreGiven, scoreMaximum] of [
    ['ext:u1', 'exam-1', 17, 20],
    ['ext:u3', 'exam-1', 30, 40],
    ['ext:u1', '$course', 90, 100],
    ['ext:u3', '1f0c9a52-6c55-4f0b-9d29-0a1b2c3d4e5f', 3, 5],
  ] as const) {
    clock.advance(60_000)
    const grade = { courseId: 'ext:BIO', learnerId, itemId, scoreGiven, scoreMaximum }
    await admin.put('/v1/grades', { ...grade, label: itemId === 'exam-1' ? 'Exam' : '' })
  }
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
  await ran(remote, 'roster export --format oneroster school --org-name localhost', 0, { env })
  const client = await openClient(academy)
  for (const [file, path, cellsOf] of lists) {
    const rows = parse(readFileSync(join(remote.cwd, 'school', `${file}.csv`), 'utf8'), {
      columns: true,
    }) as Row[]
    const { body } = await client.get(path)
    const shown = (Object.values(body)[0] as Shown[]).map((one) => ({
      sourcedId: idIn(one),
      ...cellsOf(one),
    }))
    const cells = rows.map((row) =>
      Object.fromEntries(Object.keys(shown[0] ?? { sourcedId: '' }).map((name) => [name, row[name]])),
    )
    const inOrder = (some: readonly object[]) => some.map((one) => JSON.stringify(one)).sort()
    expect(inOrder(shown), file).toEqual(inOrder(cells))
  }
})
