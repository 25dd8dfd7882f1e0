import { expect } from 'vitest'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import type { PlainBrowser } from '../../helpers/browser.ts'
import { slowRows } from '../../helpers/slow-rows.ts'
import { slowBody, slowRequest } from '../../helpers/web.ts'
import { issuer } from '../oauth/flow.ts'
import { complete, csrfOf, fillPath, pathsOf, readChangeable, test, thingsOf } from './signed-in.ts'

/** Sends a form of the dashboard whose last part arrives only when `end` is called. */
async function slowly(
  { fetch }: TestAcademy,
  browser: PlainBrowser,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ answer: Promise<Response>; end: () => void }> {
  const body = slowBody(`${new URLSearchParams({ csrf: await csrfOf(browser), ...fields })}`)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '),
    origin: issuer,
  }
  return { answer: fetch(slowRequest(issuer + path, 'POST', headers, body)), end: body.end }
}

/** Rights that a user may lose while the form is being sent. */
const losses: readonly [string, (admin: Person, owner: Person) => Promise<unknown>][] = [
  ['is signed out', (admin, { id }) => admin.put(`/v1/users/${id}`, { password: 'the last one of all' })],
  ['changes role', (admin, { id }) => admin.put(`/v1/users/${id}`, { role: 'instructor' })],
]
/** Pages with a form; a course's page has only the one to sign in or out. */
const paths = pathsOf('POST').filter(
  (path) => path in complete || /^\/dashboard\/(keys|apps|grants)\/:/.test(path),
)

for (const [what, lose] of losses) {
  test.for(slowRows(paths))(
    `who ${what} while a form is on its way to %s changes nothing by it`,
    async (path, { academy, admin, signIn }) => {
      const owner = await academy.person('admin')
      const things = await thingsOf(academy, owner, admin)
      const browser = await signIn(owner)
      const { answer, end } = await slowly(academy, browser, fillPath(path, things), complete[path])
      await lose(admin, owner)
      const before = await readChangeable(academy)
      end()
      expect((await answer).status).toBe(403)
      expect(await readChangeable(academy)).toEqual(before)
    },
  )
}

test('a form that comes slowly, and undisturbed, is taken', async ({ academy, admin, signIn }) => {
  const { answer, end } = await slowly(
    academy,
    await signIn(admin),
    '/dashboard/apps',
    complete['/dashboard/apps'],
  )
  end()
  expect((await answer).status).toBe(200)
})
