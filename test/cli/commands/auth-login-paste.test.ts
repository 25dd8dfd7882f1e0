import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { approve, type Desk, redirect, type SignIn, test, visit } from '../../auth/school.ts'

const question = 'paste the final URL:'
const ansiCodes = /\u001b\[[0-9;?]*[A-Za-z]/g

/** Texts to type at the prompt: the next one each time the previous one is refused. */
type Answers = (address: URL) => readonly string[]

/** Signs in at a terminal with the browser on another machine. */
async function paste(desk: Desk, answers: Answers, words = '--no-browser'): Promise<SignIn> {
  let given = 0
  return desk.login(words, undefined, {
    tty: 100,
    onStderr: (printed, type) => {
      const screen = printed.replaceAll(ansiCodes, '')
      const address = /^https:\/\/school\.example\/authorize\S+$/m.exec(screen)?.[0]
      const asked = screen.includes(question) ? 1 : 0
      const refused = new Set(screen.match(/^> .+$/gm)).size
      if (address === undefined || asked === 0 || given > refused) return
      const answer = answers(new URL(address))[given]
      given += 1
      if (answer !== undefined) type(answer)
    },
  })
}

describe('auth login at a terminal', () => {
  test.for<[what: string, text: (target: URL) => string]>([
    ['the address that the browser ended up at', (target) => target.href],
    ['only its query', (target) => target.search],
    ['it from another port', (target) => target.href.replace(/:\d+/, ':1')],
  ])('takes %s', async ([, text], { desk }) => {
    const ran = await paste(desk, (address) => [`${text(redirect(address, { code: 'pasted' }))}\r`])
    expect(ran).toMatchObject({ code: 0, stdout: '' })
    expect(desk.school.forms('/token').map((form) => form.get('code'))).toEqual(['pasted'])
    expect(desk.stored()).toMatchObject({ accessToken: 'at-1' })
  })

  test.for<[what: string, text: (target: URL, address: URL) => string, why: string]>([
    ['the address to open', (_, address) => address.href, 'This is the URL to open'],
    ['the code alone', () => 'pasted', 'No code found'],
    ['an address without a code', () => 'https://school.example/', 'No code found'],
    ['an address without the state', () => 'http://127.0.0.1/callback?code=c', 'Paste the whole URL'],
    ['another sign-in', () => '?code=c&state=x', 'This URL belongs to another sign-in'],
  ])('says what is wrong with %s, and asks again', async ([, text, why], { desk }) => {
    const ran = await paste(desk, (address) => {
      const target = redirect(address, { code: 'pasted' })
      return [`${text(target, address)}\r`, `${target.href}\r`]
    })
    expect(ran.code).toBe(0)
    expect(ran.stderr.replaceAll(ansiCodes, '')).toContain(why)
    expect(desk.school.forms('/token').map((form) => form.get('code'))).toEqual(['pasted'])
  })

  test('takes a denial that is pasted', { tags: ['slow'] }, async ({ desk }) => {
    const ran = await paste(desk, (address) => [`${redirect(address, { error: 'access_denied' })}\r`])
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr.replaceAll(ansiCodes, '')).toContain('error: Sign-in to school.example was denied\n')
  })

  test('takes the question off the screen when the browser comes back', async ({ desk }) => {
    let visited = false
    const ran = await desk.login('', async () => {}, {
      tty: 100,
      onStderr: (printed) => {
        const address = /^https:\/\/school\.example\/authorize\S+$/m.exec(printed)?.[0]
        if (address === undefined || !printed.includes(question) || visited) return
        visited = true
        void approve(new URL(address))
      },
    })
    expect(ran.code).toBe(0)
    const end = ran.stderr.slice(ran.stderr.lastIndexOf(question) + question.length)
    // Returns to the beginning of the line, which is cleared.
    expect(end).toMatch(/\u001b\[(?:1G|2K|J)[\s\S]*Signed in to/)
  })

  test('is broken off by Ctrl-C at the question', async ({ desk }) => {
    const ran = await paste(desk, () => ['\u0003'])
    expect(ran).toMatchObject({ code: 130, stdout: '' })
    expect(existsSync(join(desk.cli.config, 'profiles.json'))).toBe(false)
    const address = /^https:\/\/school\.example\/authorize\S+$/m.exec(ran.stderr)?.[0] ?? ''
    await expect(visit(new URL(address).searchParams.get('redirect_uri') ?? '')).rejects.toThrow()
  })

  test('gives up after five minutes, question or not', async ({ desk }) => {
    desk.letTimePass()
    const ran = await paste(desk, () => [])
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Sign-in timed out after 5 minutes'),
    })
  })
})
