import { describe, expect, it } from 'vitest'
import { directoriesOf, type Place } from '../../src/config/directories.ts'

const linux: Place = { env: {}, home: '/home/ada', cwd: '/home/ada', platform: 'linux' }

describe('the directories', () => {
  it.each([
    [{ LEARNCTL_CONFIG_DIR: '/own', XDG_CONFIG_HOME: '/xdg' }, '/own'],
    [{ LEARNCTL_CONFIG_DIR: 'own', XDG_CONFIG_HOME: '/xdg' }, '/home/ada/own'],
    [{ XDG_CONFIG_HOME: '/xdg' }, '/xdg/learnctl'],
    [{ XDG_CONFIG_HOME: 'relative' }, '/home/ada/.config/learnctl'],
    [{ LEARNCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '' }, '/home/ada/.config/learnctl'],
  ])('with %o keep profiles in %s', (env, config) => {
    expect(directoriesOf({ ...linux, env }).config).toBe(config)
  })

  it('keep state and academies apart', () => {
    const env = { XDG_STATE_HOME: '/state', XDG_DATA_HOME: '/data', XDG_CACHE_HOME: '/cache' }
    expect(directoriesOf({ ...linux, env })).toMatchObject({
      state: '/state/learnctl',
      data: '/data/learnctl',
      cache: '/cache/learnctl',
      database: '/data/learnctl/local.db',
    })
  })

  it.each([
    [{ LEARNCTL_STATE_DIR: '/own', XDG_STATE_HOME: '/xdg' }, '/own'],
    [{ LEARNCTL_STATE_DIR: 'own' }, '/home/ada/own'],
    [{ LEARNCTL_STATE_DIR: '', XDG_STATE_HOME: '/xdg' }, '/xdg/learnctl'],
  ])('with %o keep state in %s', (env, state) => {
    expect(directoriesOf({ ...linux, env }).state).toBe(state)
  })

  it('are absolute without a home', () => {
    const places = directoriesOf({ ...linux, home: '' })
    expect(places).toEqual(directoriesOf({ ...linux, home: linux.cwd }))
    expect(places.cache).toBe('/home/ada/.cache/learnctl')
  })

  it('are the platform’s own without variables', () => {
    expect(directoriesOf({ ...linux, platform: 'darwin' }).config).toBe(
      '/home/ada/Library/Application Support/learnctl',
    )
    expect(directoriesOf(linux)).toMatchObject({
      state: '/home/ada/.local/state/learnctl',
      data: '/home/ada/.local/share/learnctl',
      cache: '/home/ada/.cache/learnctl',
    })
    const windows: Place = { ...linux, platform: 'win32', env: { LOCALAPPDATA: '/local' } }
    expect(directoriesOf(windows).cache).toBe('/local/learnctl/Cache')
  })
})
