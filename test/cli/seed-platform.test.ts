import { describe, expect } from 'vitest'
import { test as base } from '../helpers/cli.ts'
import { startSeedServer } from '../helpers/seed-server.ts'

/** A platform that offers the eight published operations and nothing else. */
const test = base.extend('seed', async ({ task: _ }, { onCleanup }) => {
  const seed = await startSeedServer()
  onCleanup(() => seed.close())
  return seed
})

describe('on a platform of the eight published operations', () => {
  test('one signs in, creates, lists and updates courses', async ({ cli, seed }) => {
    expect(await cli.run(`auth login --with-key --url ${seed.url}/v1`, { stdin: seed.key })).toMatchObject({
      code: 0,
    })
    const made = await cli.run('courses create --title Go --difficulty mythical -o json')
    expect(JSON.parse(made.stdout)).toMatchObject({ title: 'Go', difficulty: 'mythical' })
    const { id } = JSON.parse(made.stdout)
    expect((await cli.run('courses list --columns id,title')).stdout).toBe(`${id}\tGo\n`)
    expect((await cli.run('courses list -q')).stdout).toBe(`${id}\n`)
    expect(await cli.run(`courses update ${id} --title Went -o json`)).toMatchObject({ code: 0 })
    expect((await cli.run('courses list --columns title')).stdout).toBe('Went\n')
    expect(await cli.run('courses list --columns title,nothing')).toMatchObject({ code: 2, stdout: '' })
    expect((await cli.run('auth status --columns academy')).stdout).toBe(`${seed.url}\n`)
  })

  test.for([
    ['courses get 1'],
    ['courses versions 1'],
    ['courses diff 1 1'],
    ['courses restore 1 1 --yes'],
    ['courses delete 1 --yes'],
  ])('%s says in one line that it is not offered', async ([line = ''], { cli, seed }) => {
    const env = { LEARNCTL_URL: seed.url, LEARNCTL_API_KEY: seed.key }
    await cli.run('courses create --title Go', { env })
    const { code, stdout, stderr } = await cli.run(line, { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: 127\.0\.0\.1:\d+ does not offer courses\.\w+ \(.*\)\n$/)
  })

  test('an expired key is 403 without a code, and exits 4', async ({ cli, seed }) => {
    const env = { LEARNCTL_URL: seed.url, LEARNCTL_API_KEY: seed.expiredKey }
    const { code, stderr } = await cli.run('courses list', { env })
    expect(code).toBe(4)
    expect(stderr).toContain('the API key from LEARNCTL_API_KEY')
  })
})
