import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'

describe('a global flag that a command cannot honour', () => {
  test.for([
    ['server start --limit 5', '--limit', 'learnctl server start'],
    ['server start --url https://school.example', '--url', 'learnctl server start'],
    ['server openapi --quiet', '--quiet', 'learnctl server openapi'],
    ['courses create --title Sea --all', '--all', 'learnctl courses create'],
    ['--limit 3 users me', '--limit', 'learnctl users me'],
    ['auth login --database a.db', '--database', 'learnctl auth login'],
    ['auth token --columns x', '--columns', 'learnctl auth token'],
    ['doctor --dry-run', '--dry-run', 'learnctl doctor'],
    ['open --all', '--all', 'learnctl open'],
  ])('is refused before anything is done: %s', async ([line = '', flag = '', command = ''], { local }) => {
    const { code, stdout, stderr } = await local.run(line, { env: { LEARNCTL_DATABASE: '' } })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: ${flag} is not supported by \`${command}\`\n  [A-Z].+\n$`))
  })

  test('is ignored where a variable or the project file gives it', { tags: ['slow'] }, async ({ local }) => {
    const env = { LEARNCTL_LIMIT: '3', LEARNCTL_ALL: '1', LEARNCTL_COLUMNS: 'title' }
    expect(await local.run('server openapi', { env })).toMatchObject({ code: 0, stderr: '' })
    expect(await local.run('courses create --title Sea', { env })).toMatchObject({ code: 0 })
  })

  test('is named by the help of the command', async ({ cli }) => {
    expect((await cli.run('server openapi --help')).stdout).toMatch(
      /\nGlobal flags: learnctl help flags \(not supported here: --profile,/,
    )
    expect((await cli.run('courses list --help')).stdout).toMatch(/\nGlobal flags: learnctl help flags\n$/)
  })
})
