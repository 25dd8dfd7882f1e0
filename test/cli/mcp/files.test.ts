import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { splitWords } from '../../helpers/cli.ts'
import { files, test } from './writing-school.ts'

describe('files', () => {
  const users = (path: string) => ['users', 'import', path, '--dry-run']

  test('are read from the shared folder', { tags: ['slow'] }, async ({ school: { cli, serve, shared } }) => {
    writeFileSync(join(cli.cwd, 'secret.csv'), files['users.csv'] ?? '')
    symlinkSync(join(cli.cwd, 'secret.csv'), shared('link.csv'))
    const mcp = serve('--allow-writes', '--folder', 'shared')
    expect(await mcp.run(users('users.csv'))).toMatchObject({ isError: false })
    for (const path of [
      '../secret.csv',
      join(cli.cwd, 'secret.csv'),
      'link.csv',
      '/etc/passwd',
      '/nowhere',
    ]) {
      expect.soft((await mcp.run(users(path))).data, path).toMatchObject({ errorCode: 'outside_folder' })
    }
    expect((await mcp.run(users('-'))).text).toContain('There is no standard input here')
    expect((await mcp.run(['validate'])).text).toContain('Name the files')
    expect((await serve('--allow-writes').run(users('users.csv'))).data).toMatchObject({
      errorCode: 'no_folder',
    })
  })

  test('are regular files: a pipe would block', { tags: ['slow'] }, async ({ school: { serve, shared } }) => {
    execFileSync('mkfifo', [shared('pipe.csv')])
    const mcp = serve('--folder', 'shared', '--allow-writes')
    expect((await mcp.run(users('pipe.csv'))).text).toContain('pipe.csv: it is not a regular file')
    writeFileSync(shared('all.yaml'), 'learnctl: 1\nusers: {file: pipe.csv}\n')
    expect((await mcp.run(['validate', 'all.yaml'])).text).toContain('it is not a regular file')
  })

  test('with rejected rows are not written through a link', async ({ school: { cli, serve, shared } }) => {
    const outside = join(cli.cwd, 'outside')
    writeFileSync(outside, 'kept')
    writeFileSync(shared('bad.csv'), 'email,role\neve@school.example,learner\nnone,learner\n')
    symlinkSync(outside, shared('bad.errors.csv'))
    const mcp = serve('--folder', 'shared', '--allow-writes')
    const argv = ['users', 'import', 'bad.csv', '--skip-invalid']
    expect((await mcp.run(argv)).data).toMatchObject({ errorCode: 'outside_folder' })
    expect(readFileSync(outside, 'utf8')).toBe('kept')
  })

  test('that a file names must be in the folder, too', async ({ school: { cli, serve, shared } }) => {
    writeFileSync(join(cli.cwd, 'secret.csv'), files['users.csv'] ?? '')
    symlinkSync(join(cli.cwd, 'secret.csv'), shared('link.csv'))
    writeFileSync(shared('all.yaml'), 'learnctl: 1\nusers: {file: link.csv}\n')
    const mcp = serve('--folder', 'shared')
    expect((await mcp.run(['validate', 'all.yaml'])).data).toMatchObject({ errorCode: 'outside_folder' })
  })

  test('are the body of a request by @, and are never written', async ({ school: { serve, shared } }) => {
    writeFileSync(shared('body.json'), '{"title": "Delta"}')
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const plan = await mcp.run(['courses', 'create', '--body', '@body.json'])
    expect(plan.text).toContain('Delta')
    const outside = await mcp.run(['courses', 'create', '--body=@../academy.db'])
    expect(outside.data).toMatchObject({ errorCode: 'outside_folder' })
    for (const line of ['courses export --file out.csv', 'users import users.csv --errors e.csv']) {
      expect((await mcp.run(splitWords(line))).data, line).toMatchObject({ errorCode: 'flag_not_offered' })
    }
    expect(readFileSync(shared('users.csv'), 'utf8')).toBe(files['users.csv'])
  })
})
