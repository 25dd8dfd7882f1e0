import { expect } from 'vitest'
import { visit } from '../auth/school.ts'
import { expired, readValidTokens, runAtOnce, success, test } from '../cli/session/sharing-processes.ts'
import { plainBrowser } from '../helpers/browser.ts'
import { testCli } from '../helpers/cli.ts'
import { storeProfile, tokensIn } from '../helpers/signed-in.ts'
import { startOidcProvider } from './oidc-provider.ts'

test('four processes leave a session of oidc-provider alive, which two refreshes at once would end', async ({
  home,
  onTestFinished,
}) => {
  const server = await startOidcProvider()
  onTestFinished(() => server.close())
  const browser = plainBrowser(fetch, server.url)
  const approve = async (address: string) => {
    const { leadsTo } = await browser.open(address)
    if (leadsTo !== null) await visit(leadsTo)
  }
  const person = testCli({
    now: Date.now,
    // The five-minute limit of the sign-in, which happens at once here.
    sleep: (_, signal) => new Promise((_resolve, reject) => signal?.addEventListener('abort', reject)),
    openBrowser: async (address) => {
      // The last page is sent only after the program has continued.
      void approve(address)
    },
    env: { DISPLAY: ':0' },
  })
  onTestFinished(() => person.remove())
  expect(await person.run(`auth login --url ${server.url} --profile school`)).toMatchObject({ code: 0 })
  const tokens = tokensIn(person.config)
  storeProfile(home.config, server.url, tokens && { ...tokens, expiresAt: expired })
  const printed = (await runAtOnce(4, () => home.learnctl('auth token'))).map(({ stdout }) => stdout)
  expect(printed).toEqual(Array.from({ length: 4 }, () => `${readValidTokens(home.config)?.accessToken}\n`))
  expect(printed[0]).not.toContain(tokens?.accessToken)
  expect(await home.learnctl('users me')).toMatchObject(success)
})
