import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { type Ran, type TestCli, test, testCli } from '../../helpers/cli.ts'
import { canvasToken, fakeCanvas } from '../../helpers/fake-canvas.ts'
import { createFakeClassroom, googleClient } from '../../helpers/fake-classroom.ts'
import { fakeMoodle, moodleToken } from '../../helpers/fake-moodle.ts'
import { fakeOneRoster, oneRosterClient } from '../../helpers/fake-oneroster.ts'
import { fakeOpenedx, openedxToken } from '../../helpers/fake-openedx.ts'
import { type FakeResponse, type FakeSystem, json, serveFake } from '../../helpers/fake-system.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran } from '../../helpers/result.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

/** A system and how an academy is connected with it. */
interface Given {
  readonly system: FakeSystem
  readonly flags: (url: string) => string
  readonly stdin?: string
  readonly body?: (url: string) => object
}

const withToken = (token: string) => ({
  flags: (url: string) => `--base-url ${url} --access-token-stdin`,
  stdin: token,
})

function classroom(): FakeSystem {
  const fake = createFakeClassroom()
  const [ada, cleo] = ['ada', 'cleo'].map((name) => fake.addUser(`${name}@school.example`))
  const course = fake.addCourse('Biology', { alias: 'd:BIO-101' })
  course.students.push(ada?.id ?? '')
  course.teachers.push(cleo?.id ?? '')
  return fake.system
}

const key = 'course-v1:School+BIO+2026'
const systems: Readonly<Record<string, () => Given>> = {
  canvas: () => ({
    ...withToken(canvasToken),
    system: fakeCanvas({
      terms: [{ id: 7, sis: 'S26', name: 'Spring 2026' }],
      users: [
        { id: 1, sis: 'ada', first: 'Ada', last: 'Lovelace' },
        { id: 3, sis: 'cleo', first: 'Cleo', last: 'Jones' },
      ],
      courses: [
        {
          ...{ id: 21, sis: 'bio', name: 'Biology', term: 7 },
          sections: [{ id: 51, sis: 'bio-1', name: 'Section 1' }],
        },
      ],
      enrollments: [
        { course: 21, user: 1, section: 51 },
        { course: 21, user: 3, type: 'TeacherEnrollment' },
      ],
    }),
  }),
  moodle: () => ({
    ...withToken(moodleToken),
    system: fakeMoodle({
      users: [
        { id: 11, idnumber: 'S-1', username: 'ada', first: 'Ada', last: 'Lovelace' },
        { id: 13, idnumber: 'T-1', username: 'cleo', first: 'Cleo', last: 'Jones' },
      ],
      courses: [{ id: 4, shortname: 'BIO-101', fullname: 'Biology' }],
      enrollments: [
        { course: 4, user: 11, groups: [31] },
        { course: 4, user: 13, roles: ['editingteacher'] },
      ],
      groups: [{ id: 31, course: 4, name: 'Monday' }],
      cohorts: [{ id: 4, name: 'Year 1', users: [11] }],
    }),
  }),
  openedx: () => ({
    ...withToken(openedxToken),
    system: fakeOpenedx({
      courses: [{ key, name: 'Biology' }],
      enrollments: [
        { course: key, user: 'ada', percent: 0.9 },
        { course: key, user: 'bob', percent: 0.2 },
      ],
    }),
  }),
  oneroster: () => ({
    system: fakeOneRoster(),
    flags: (url) =>
      `--base-url ${url}/ims/oneroster --token-url ${url}/oauth/token --client-id ${oneRosterClient.id} --client-secret-stdin`,
    stdin: oneRosterClient.secret,
  }),
  classroom: () => ({
    system: classroom(),
    flags: () => '--body -',
    body: (url) => ({
      ...{ baseUrl: url, tokenUrl: `${url}/token`, clientId: googleClient.id },
      ...{ clientSecret: googleClient.secret, refreshToken: googleClient.refreshToken },
    }),
  }),
}

/** Answers that stand where a list of the system should be. */
const shapes: Readonly<Record<string, (right: FakeResponse) => FakeResponse>> = {
  null: () => json(null),
  'another object': () => json({ ok: true, message: 'moved' }),
  'an error without a code': () => json({ exception: 'TypeError', message: 'must be of type int' }),
  'a list of texts': () => json(['ada']),
  401: () => json({ errors: [{ message: 'Invalid access token.' }] }, 401),
  403: () => json({ errors: [{ message: 'no' }] }, 403),
  404: () => json({ detail: 'Not found.' }, 404),
}

/** A local academy that has the roster of a system, which can answer wrongly. */
interface Place {
  readonly cli: TestCli
  /** Lists that the system was asked for. */
  readonly lists: Set<string>
  /** Replaces the answer to a list. */
  wrong: { readonly list: string; readonly shape: string } | null
  close(): Promise<void>
}

async function openPlace(kind: string): Promise<Place> {
  const { system, flags, stdin, body } = (systems[kind] as () => Given)()
  const cli = testCli({ env: { LEARNCTL_DATABASE: 'academy.db' } })
  await putNewAcademy(join(cli.cwd, 'academy.db'))
  const { url, close } = await serveFake(async (request) => {
    const right = await system(request)
    if (/token$/.test(request.url.pathname)) return right
    const list = `${request.url.pathname}${request.url.search} ${request.body}`
    place.lists.add(list)
    return list === place.wrong?.list ? (shapes[place.wrong.shape]?.(right) ?? right) : right
  })
  const place: Place = {
    ...{ cli, lists: new Set(), wrong: null },
    async close() {
      await close()
      cli.remove()
    },
  }
  const input = stdin ?? JSON.stringify(body?.(url))
  const set = await cli.run(`integrations set ${kind} ${flags(url)}`, { stdin: input })
  expect(set.code, set.stderr).toBe(0)
  await ran(cli, `roster apply integration:${kind} --yes`)
  place.lists.clear()
  return place
}

describe.for(Object.keys(systems))('%s', (kind) => {
  const diff = `roster diff integration:${kind} --prune`
  let place: Place
  let whole: Ran
  let lists: readonly string[]
  // A comparison changes nothing.
  beforeAll(async () => {
    place = await openPlace(kind)
    whole = await ran(place.cli, diff)
    expect(whole.stdout).toMatch(/^No changes/)
    lists = [...place.lists]
  })
  afterAll(() => place.close())

  test.for(slowRows(Object.keys(shapes)))(
    'removes nothing and says so after %s in place of a list',
    async (shape) => {
      const { cli } = place
      for (const list of lists) {
        place.wrong = { list, shape }
        rmSync(join(cli.home, '.local/state/learnctl/readings'), { recursive: true, force: true })
        const { code, stdout, stderr } = await cli.run(diff)
        const where = `${list}: exit ${code}\n${stdout}${stderr}`
        if (code !== 0 && code !== 9) continue
        // A list that is not shown is noted; a provider of OneRoster 1.1 knows no lists of 1.2.
        if (kind !== 'oneroster') expect(stderr.length, where).toBeGreaterThan(whole.stderr.length)
        expect(stdout, where).not.toMatch(/suspended|archived|inactive|[1-9]\d* to delete/)
      }
    },
  )
})

test('a roster without people is refused before all are removed, unless that is allowed', {
  tags: ['slow'],
}, async ({ local }) => {
  let isEmpty = false
  const { system, flags, stdin = '' } = (systems['canvas'] as () => Given)()
  const { url, close } = await serveFake((request) =>
    isEmpty && /\/(users|enrollments)$/.test(request.url.pathname) ? json([]) : system(request),
  )
  onTestFinished(close)
  await ran(local, `integrations set canvas ${flags(url)}`, 0, { stdin })
  await ran(local, 'roster apply integration:canvas --yes')
  isEmpty = true
  const apply = 'roster apply integration:canvas --yes --prune --only users,courses,groups,enrollments'
  const { stderr } = await ran(local, apply, 6)
  expect(stderr).toContain('error: Refusing to remove 2 users: integration:canvas has none at all\n')
  expect(stderr).toContain('allow all removals: --max-deletes')
  expect((await ran(local, 'users list --status suspended -q')).stdout).toBe('')
  await ran(local, `${apply} --max-deletes 10`)
  expect((await ran(local, 'users list --status suspended -q')).stdout).not.toBe('')
})
