-- Requests for wrk: the page's recorded move, for one participant after the other.
-- There are more participants than connections, so nobody's next move is sent before the last one is answered.

local tokens, played, current = {}, {}, 0
local head
local checked = false

function init(arguments)
  for line in io.lines(arguments[1]) do
    tokens[#tokens + 1] = line
    played[#tokens] = 0
  end
  local recording = io.open(arguments[2], "rb"):read("*a")
  head = recording:match("^(.-)\n\n"):gsub("\n", "\r\n")
  head = head:gsub("127%.0%.0%.1:%d+", arguments[3])
end

local function move(token, t, key)
  local body = string.format('{"episode":0,"moves":[{"t":%d,"arm":%d,"key":"%s","ms":400}]}', t, t % 2, key)
  local own = head:gsub("participants/[^/]+/", "participants/" .. token .. "/")
  own = own:gsub("Content%-Length: %d+", "Content-Length: " .. #body)
  return own .. "\r\n\r\n" .. body
end

function request()
  if not checked then -- wrk asks for one request that it parses and does not send
    checked = true
    return move(tokens[1], 1, "never-sent")
  end
  current = current % #tokens + 1
  played[current] = played[current] + 1
  return move(tokens[current], played[current], string.format("%08x-0000-4000-8000-%012x", current, played[current]))
end
