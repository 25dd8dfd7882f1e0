import { expect } from 'vitest'
import { slowRows } from '../../helpers/slow-rows.ts'
import {
  complete,
  fillPath,
  pathsOf,
  readChangeable,
  roles,
  sendForm,
  startOtherSession,
  test,
  thingsOf,
} from './signed-in.ts'

/** Paths with their statuses for admin, instructor, analyst and learner: of their own records, then of another user's. */
type Rights = readonly (readonly [paths: readonly string[], own: string, foreign?: string])[]

const everyone = '200 200 200 200'
const admins = '200 403 403 403'
const notLearners = '200 200 200 403'

const pages: Rights = [
  [['/dashboard', ...list('/dashboard/courses')], everyone],
  [
    ['/dashboard/courses/:courseId', ...list('/dashboard/courses/:courseId/lessons')],
    everyone,
    '200 404 200 200',
  ],
  [list('/dashboard/courses/:courseId/grades'), notLearners, '200 404 200 403'],
  [files('/dashboard/courses/:courseId/learners'), notLearners, '200 404 200 403'],
  [[...list('/dashboard/people'), ...list('/dashboard/activity')], notLearners],
  [['/dashboard/report', '/dashboard/report.html'], notLearners],
  [
    ['/dashboard/learners/:userId', ...files('/dashboard/learners/:userId/courses')],
    notLearners,
    '200 404 200 403',
  ],
  [
    [...list('/dashboard/learners/:userId/grades'), ...list('/dashboard/learners/:userId/history')],
    notLearners,
    '200 404 200 403',
  ],
  [['/dashboard/grades/:gradeId'], everyone, '200 404 200 404'],
  [[...list('/dashboard/keys'), '/dashboard/account', '/dashboard/other-sessions/end'], everyone],
  [
    [
      '/dashboard/keys/:keyId/revoke',
      '/dashboard/grants/:grantId/revoke',
      '/dashboard/sessions/:sessionId/end',
    ],
    everyone,
    '404 404 404 404',
  ],
  [list('/dashboard/changes'), '200 200 403 403'],
  [['/dashboard/changes/:changeId'], '200 200 403 403', '200 404 403 403'],
  [
    [
      '/dashboard/apps',
      ...['integrations', 'deliveries', 'endpoints', 'messages', 'calendars', 'audit'].flatMap((name) =>
        list(`/dashboard/${name}`),
      ),
    ],
    admins,
  ],
  [
    [
      '/dashboard/apps/:clientId/delete',
      '/dashboard/integrations/:lmsKind',
      '/dashboard/integrations/:lmsKind/remove',
      '/dashboard/deliveries/:deliveryId',
      '/dashboard/endpoints/:endpointId',
      '/dashboard/endpoints/:endpointId/rotate',
      '/dashboard/endpoints/:endpointId/delete',
      '/dashboard/messages/:messageId',
      '/dashboard/calendars/:calendarId/revoke',
      '/dashboard/audit/:entryId',
    ],
    admins,
    admins,
  ],
  [['/dashboard/*'], '404 404 404 404'],
]

/** The same for forms, after all redirects; 200 if the form changed something. */
const forms: Rights = [
  [
    ['/dashboard/keys', '/dashboard/account', '/dashboard/other-sessions/end', '/dashboard/sign-out'],
    everyone,
  ],
  [
    [
      '/dashboard/keys/:keyId/revoke',
      '/dashboard/grants/:grantId/revoke',
      '/dashboard/sessions/:sessionId/end',
    ],
    everyone,
    '404 404 404 404',
  ],
  [['/dashboard/apps', '/dashboard/deliveries', '/dashboard/endpoints', '/dashboard/calendars'], admins],
  [
    [
      '/dashboard/apps/:clientId/delete',
      '/dashboard/integrations/:lmsKind',
      '/dashboard/integrations/:lmsKind/remove',
      '/dashboard/deliveries/:deliveryId',
      '/dashboard/endpoints/:endpointId',
      '/dashboard/endpoints/:endpointId/rotate',
      '/dashboard/endpoints/:endpointId/delete',
      '/dashboard/messages/:messageId',
      '/dashboard/calendars/:calendarId/revoke',
    ],
    admins,
    admins,
  ],
]

/** Returns the path of a list and those of its files. */
function list(path: string): string[] {
  return [path, ...files(path)]
}

function files(path: string): string[] {
  return [`${path}.csv`, `${path}.xlsx`]
}

/** Returns the status of each path for a role; paths that name no record are left out of another user's. */
function statusesFor(rights: Rights, role: (typeof roles)[number], whose: 'own' | 'foreign') {
  const byPath = new Map<string, number>()
  for (const [paths, own, foreign] of rights) {
    const statuses = whose === 'own' ? own : foreign
    for (const path of statuses === undefined ? [] : paths) {
      byPath.set(path, Number(statuses?.split(' ')[roles.indexOf(role)]))
    }
  }
  return byPath
}

const cases = slowRows([
  { role: 'instructor', whose: 'foreign' },
  { role: 'instructor', whose: 'own' },
  { role: 'admin', whose: 'own' },
  { role: 'admin', whose: 'foreign' },
  { role: 'analyst', whose: 'own' },
  { role: 'analyst', whose: 'foreign' },
  { role: 'learner', whose: 'own' },
  { role: 'learner', whose: 'foreign' },
])

test('every page is in the table', () => {
  expect(pages.flatMap(([paths]) => paths).toSorted()).toEqual(pathsOf('GET').toSorted())
})

test("a row names another user's records if, and only if, its paths have an id", () => {
  for (const [paths, , foreign] of [...pages, ...forms]) {
    for (const path of paths)
      expect({ path, named: foreign !== undefined }).toEqual({ path, named: path.includes(':') })
  }
})

test.for(cases)(
  'the pages that $role sees, of $whose records',
  async ({ role, whose }, { academy, admin, signIn }) => {
    const person = await academy.person(role)
    const owner = whose === 'own' ? person : await academy.person('instructor')
    const things = await thingsOf(academy, owner, admin)
    const browser = await signIn(person)
    const expected = statusesFor(pages, role, whose)
    const seen = new Map<string, number>()
    for (const path of expected.keys()) {
      const { status, text } = await browser.open(fillPath(path, things))
      seen.set(path, status)
      if (status === 403) expect.soft(text, path).toMatch(/Scope admin is required|requires role admin/)
    }
    expect(seen).toEqual(expected)
  },
)

test.for(cases)(
  'the forms that change something for $role, of $whose records',
  async ({ role, whose }, { academy, admin, signIn }) => {
    const open = async () => {
      const person = await academy.person(role)
      const owner = whose === 'own' ? person : await academy.person('instructor')
      const things = await thingsOf(academy, owner, admin)
      const browser = await signIn(person)
      if (whose === 'foreign') await startOtherSession(academy, person)
      return { things, browser, before: await readChangeable(academy) }
    }
    const expected = statusesFor(forms, role, whose)
    const seen = new Map<string, number>()
    let { things, browser, before } = await open()
    for (const path of expected.keys()) {
      const { status } = await sendForm(browser, fillPath(path, things), complete[path] ?? {})
      seen.set(path, status)
      const after = await readChangeable(academy)
      if (status !== 200) {
        expect.soft(after, path).toEqual(before)
        continue
      }
      expect.soft(after, path).not.toEqual(before)
      // The next form finds all records unchanged.
      ;({ things, browser, before } = await open())
    }
    expect(seen).toEqual(expected)
  },
)

test('a page without a form refuses one', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const things = await thingsOf(academy, admin, admin)
  const before = await readChangeable(academy)
  const withForm = new Set(forms.flatMap(([paths]) => paths))
  const others = pathsOf('POST').filter((path) => !withForm.has(path))
  expect(others.length + withForm.size).toBe(pathsOf('POST').length)
  const statuses: Record<string, number> = {}
  for (const path of others) statuses[path] = (await sendForm(browser, fillPath(path, things), {})).status
  expect(statuses).toEqual(Object.fromEntries(others.map((path) => [path, 400])))
  expect(await readChangeable(academy)).toEqual(before)
})

test('every page asks a signed-out user to sign in', { tags: ['slow'] }, async ({ academy, admin, flow }) => {
  const things = await thingsOf(academy, admin, admin)
  flow.browser.forget()
  for (const path of pathsOf('GET')) {
    const { status, forms, text } = await flow.browser.open(fillPath(path, things))
    const isPage = path !== '/dashboard/*'
    const asksToSignIn = 'password' in (forms[0]?.fields ?? {})
    expect({ path, status, asksToSignIn }).toEqual({ path, status: isPage ? 200 : 404, asksToSignIn: isPage })
    expect(text, path).not.toContain('Logic')
  }
})

test('a form without a sign-in does nothing', { tags: ['slow'] }, async ({ academy, admin, flow }) => {
  const things = await thingsOf(academy, admin, admin)
  flow.browser.forget()
  const before = await readChangeable(academy)
  for (const path of pathsOf('POST')) {
    const { forms } = await sendForm(flow.browser, fillPath(path, things), complete[path] ?? {})
    expect({ path, asksToSignIn: 'password' in (forms[0]?.fields ?? {}) }).toEqual({
      path,
      asksToSignIn: true,
    })
  }
  expect(await readChangeable(academy)).toEqual(before)
})
