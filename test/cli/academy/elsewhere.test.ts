import { expect, onTestFinished } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { startSeedServer } from '../../helpers/seed-server.ts'

test('what a platform of the eight operations cannot do is said before anything is sent', async ({ cli }) => {
  const server = await startSeedServer()
  onTestFinished(() => server.close())
  const env = { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.key }
  const stdin = 'learnctl: 1\nusers: [{email: a@b.example}]\ncourses: [{externalId: C, title: C}]\n'
  const ran = await cli.run('apply - --yes', { stdin, env })
  expect(ran.code).toBe(1)
  expect(ran.stderr).toContain('does not support users.')
  expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
})
