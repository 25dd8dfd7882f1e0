import { describe, expect } from 'vitest'
import { visit } from '../../auth/school.ts'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import { plainBrowser, type Shown } from '../../helpers/browser.ts'
import {
  type Ran,
  type RunOptions,
  type TestCli,
  testCli,
  transportTo,
  test as withCli,
} from '../../helpers/cli.ts'
import { freePort } from '../../helpers/free-port.ts'
import { givePassword, password, register } from '../../server/oauth/flow.ts'

const url = 'https://school.example'

/** The program, a remote academy, and a user at a browser. */
interface Place {
  readonly academy: TestAcademy
  readonly cli: TestCli
  /** Signs in as this user, who presses this button on the consent page. */
  login(person: Person, words?: string, button?: string, options?: RunOptions): Promise<Ran>
}

const test = withCli.extend('place', async ({ academy }, { onCleanup }): Promise<Place> => {
  const browser = plainBrowser(academy.fetch, url)
  let open: (address: string) => Promise<void> = async () => {}
  let answerCode: () => Promise<void> = async () => {}
  let polls = 0
  const cli = testCli({
    transport: transportTo(academy),
    now: () => academy.clock.now().getTime(),
    sleep: async (ms, signal) => {
      if (ms >= 300_000) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
      academy.clock.advance(ms)
      polls += 1
      // After one poll without a decision.
      if (polls === 2) await answerCode()
    },
    openBrowser: (address) => open(address),
    env: { DISPLAY: ':0' },
  })
  onCleanup(() => cli.remove())

  async function signedIn(person: Person, address: string): Promise<Shown> {
    await givePassword(academy, person.id)
    const page = await browser.open(address)
    return page.forms.some(({ fields }) => 'password' in fields)
      ? browser.signIn(page, person.email, password)
      : page
  }

  return {
    academy,
    cli,
    login: async (person, words = '', button = 'Allow', options = {}) => {
      let end: Promise<unknown> = Promise.resolve()
      polls = 0
      open = async (address) => {
        const page = await signedIn(person, address)
        if (words.includes('--device')) {
          answerCode = async () => {
            const consent = await browser.submit(page, page.forms[0]?.fields ?? {})
            await browser.submit(consent, {}, button)
          }
          return
        }
        const { leadsTo } = await browser.submit(page, {}, button)
        end = visit(leadsTo ?? '')
      }
      const ran = await cli.run(`auth login --url ${url} ${words}`, options)
      await end
      return ran
    },
  }
})

describe('auth login at an academy', () => {
  test.for([
    ['admin', ['read', 'write', 'admin'], null],
    ['instructor', ['read', 'write'], null],
    ['learner', ['read', 'write'], null],
    ['analyst', ['read'], 'note: Granted scopes: read; not granted: write\n'],
  ] as const)(
    'grants the scopes of the role, with a browser and with a code: %s',
    async ([role, scopes, note], { place, admin, instructor, learner, analyst }) => {
      const person = { admin, instructor, learner, analyst }[role]
      for (const words of ['', '--device']) {
        const { code, stderr } = await place.login(person, words)
        expect(code).toBe(0)
        expect(stderr.match(/note: Granted.*\n/)?.[0] ?? null).toBe(note)
        const { stdout } = await place.cli.run('auth status -o json')
        expect(JSON.parse(stdout).credential.scopes).toEqual(scopes)
      }
    },
  )

  test('asks for the scopes that are named, and no others', async ({ place, admin }) => {
    await place.login(admin, '--scopes read')
    const ran = await place.cli.run('keys create --name ci --columns key')
    expect(ran).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('auth login --scopes "read admin"'),
    })
  })

  test('ends the session that it replaces, and no other', { tags: ['slow'] }, async ({ place, admin }) => {
    await place.login(admin)
    await place.login(admin)
    const grants = JSON.parse((await place.cli.run('auth grants list -o json')).stdout)
    expect(grants).toHaveLength(1)
    expect(await place.cli.run('courses list')).toMatchObject({ code: 0 })
  })

  test('signs in as an application that is registered there', async ({ place, admin }) => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/back`
    const app = await register(place.academy, { redirectUris: [redirectUri] })
    const words = `--client-id ${app.clientId} --client-secret-stdin --redirect-uri ${redirectUri}`
    const ran = await place.login(admin, words, 'Allow', { stdin: app.clientSecret ?? '' })
    expect(ran.code).toBe(0)
    place.academy.clock.advance(2 * 3_600_000)
    expect(await place.cli.run('courses list')).toMatchObject({ code: 0 })
  })
})
