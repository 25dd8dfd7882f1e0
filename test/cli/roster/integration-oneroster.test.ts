import { describe, expect, onTestFinished } from 'vitest'
import { openTestAcademy } from '../../helpers/academy.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import {
  fakeOneRoster,
  type OneRosterOptions,
  oneRosterClient,
  smallSchool,
} from '../../helpers/fake-oneroster.ts'
import { type FakeRequest, type FakeSystem, json, serveFake } from '../../helpers/fake-system.ts'
import { ran } from '../../helpers/result.ts'
import { register } from '../../server/oauth/flow.ts'
import { makeSchool } from '../../server/oneroster/one-roster.ts'

interface Client {
  readonly id: string
  readonly secret: string
}

async function connect(cli: TestCli, system: FakeSystem, client: Client = oneRosterClient): Promise<string> {
  const { url, close } = await serveFake(system)
  onTestFinished(close)
  const set = `integrations set oneroster --base-url ${url}/ims/oneroster --token-url ${url}/oauth/token`
  await ran(cli, `${set} --client-id ${client.id} --client-secret-stdin`, 0, { stdin: client.secret })
  return url
}

const fake = (options: OneRosterOptions = {}) => fakeOneRoster(smallSchool, options)

describe('a provider of OneRoster', () => {
  test.for([
    ['both versions', {}],
    ['1.1 only', { versions: ['1.1'] }],
    ['pages of one, by Link', { pageSize: 1, leads: 'link' }],
    ['pages of two, by X-Total-Count', { pageSize: 2, leads: 'total' }],
    ['no headers', { leads: 'neither' }],
    ['pages of one without headers', { leads: 'neither', pageSize: 1 }],
    ['no headers and no pages', { leads: 'neither', ignoresOffset: true }],
    ['other scopes', { scopes: ['other'] }],
  ] as const)('is validated as a roster: %s', async ([, options], { local }) => {
    await connect(local, fake(options))
    const { stderr, stdout } = await ran(local, 'roster validate integration:oneroster')
    expect(stdout + stderr).toContain(
      'integration:oneroster is valid: OneRoster (bulk) with 1 term, 3 users, 2 courses, 4 enrolments',
    )
    expect(stderr).toContain('people without a role in an academy are left out')
  })

  test('is applied to an academy, which then is equal', { tags: ['slow'] }, async ({ local }) => {
    await connect(local, fake())
    await ran(local, 'roster apply integration:oneroster --yes')
    expect((await ran(local, 'roster diff integration:oneroster')).stdout).toMatch(/^No changes/)
    const shown = async (line: string) => JSON.parse((await ran(local, `${line} -o json`)).stdout)
    expect(await shown('users get ext:cleo')).toMatchObject({
      ...{ role: 'instructor', email: 'cleo@school.example', managedBy: 'roster:oneroster' },
      profile: { displayName: 'Cle Smith' },
    })
    expect(await shown('users get ext:bob')).toMatchObject({ status: 'suspended' })
    expect(await shown('courses get ext:bio')).toMatchObject({ title: 'Biology', termExternalId: 'T1' })
  })

  test('gives its grades, line item by line item', { tags: ['slow'] }, async ({ local }) => {
    await connect(local, fake())
    await ran(local, 'roster apply integration:oneroster --yes')
    await ran(local, 'grades import --from oneroster')
    const { stdout } = await ran(local, 'grades list --sort gradedAt -o json')
    const grades = JSON.parse(stdout) as {
      userExternalId: string
      itemId: string
      scoreGiven: number
      scoreMaximum: number
      published: boolean
    }[]
    expect(
      grades
        .map(({ userExternalId, itemId, scoreGiven, scoreMaximum, published }) =>
          [userExternalId, itemId, scoreGiven, scoreMaximum, published].join(' '),
        )
        .sort(),
    ).toEqual(['ada essay 80 100 true', 'ada quiz 17 20 true', 'bob quiz 12 20 false'])
  })

  test('may be an academy: the copy is the same school', { tags: ['slow'] }, async ({ local }) => {
    const academy = await openTestAcademy()
    onTestFinished(() => academy.close())
    await makeSchool(await academy.person('admin'))
    const { clientId: id, clientSecret } = await register(academy, { machineScopes: ['roster.readonly'] })
    await connect(
      local,
      async ({ url, method, headers, body }) => {
        const given = Object.entries(headers).filter(
          (each): each is [string, string] => typeof each[1] === 'string',
        )
        const init = { method, headers: given, ...(method === 'POST' && { body }) }
        const answer = await academy.fetch(new Request(url, init))
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: await answer.text(),
        }
      },
      { id, secret: String(clientSecret) },
    )
    await ran(local, 'roster apply integration:oneroster --yes')
    expect((await ran(local, 'roster diff integration:oneroster')).stdout).toMatch(/^No changes/)
    const { stdout } = await ran(local, 'users get email:ada@b.example -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ externalId: 'u1', role: 'learner' },
      profile: { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Countess Ada' },
    })
    const tested = await ran(local, 'integrations test oneroster -o json')
    expect(JSON.parse(tested.stdout)).toMatchObject({
      passed: true,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'client', status: 'ok' })]),
    })
  })
})

describe('a clear error', () => {
  test.for([
    [
      'a wrong client secret',
      { id: 'learnctl', secret: 'wrong secret' },
      {},
      'the client id or the client secret is wrong',
    ],
    [
      'a missing scope',
      oneRosterClient,
      { instead: ({ url }) => (url.pathname.includes('/ims/') ? json({}, 403) : undefined) },
      'it needs the scope roster.readonly',
    ],
    ['a base URL that is another', oneRosterClient, { versions: [] }, 'check the base URL'],
    [
      'a list of something else',
      oneRosterClient,
      { instead: ({ url }) => (url.pathname.includes('/ims/') ? json({ things: [] }) : undefined) },
      'no list of classes',
    ],
  ] satisfies [string, Client, OneRosterOptions, string][])(
    'says %s',
    async ([, client, options, text], { local }) => {
      await connect(local, fake(options), client)
      const refused = await local.run('roster validate integration:oneroster')
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toContain(text)
      expect(refused.stdout + refused.stderr).not.toContain(client.secret)
    },
  )
})

test('an empty page before the end and results that are gone are not taken for the end', {
  tags: ['slow'],
}, async ({ local }) => {
  const empty = (request: FakeRequest) =>
    request.url.pathname.endsWith('/users') ? json({ users: [] }, 200, { 'x-total-count': '3' }) : undefined
  await connect(local, fake({ instead: empty }))
  expect((await ran(local, 'roster validate integration:oneroster', 6)).stderr).toContain(
    'OneRoster: a page is empty, although X-Total-Count is 3',
  )
  const gone = ({ url }: FakeRequest) =>
    url.pathname.endsWith('/lineItems/quiz/results') ? json({}, 404) : undefined
  await connect(local, fake({ instead: gone }))
  await ran(local, 'roster apply integration:oneroster --yes')
  const { stderr } = await ran(local, 'grades import --from oneroster')
  expect(stderr).toContain('OneRoster: class does not show its grades to this client (HTTP 404)')
  const { stdout } = await ran(local, 'grades list -o json')
  expect(JSON.parse(stdout)).toMatchObject([{ itemId: 'essay' }])
})

test('an expired token is replaced, and a busy provider is asked again', async ({ local }) => {
  let [refusals, waits] = [1, 1]
  await connect(
    local,
    fake({
      instead: ({ url }) => {
        if (url.pathname.endsWith('/users') && refusals-- > 0) return json({}, 401)
        return url.pathname.endsWith('/enrollments') && waits-- > 0
          ? json({}, 429, { 'retry-after': '1' })
          : undefined
      },
    }),
  )
  const { stderr, stdout } = await ran(local, 'roster validate integration:oneroster')
  expect(stdout + stderr).toContain('3 users, 2 courses, 4 enrolments')
})
