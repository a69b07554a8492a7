"""Pictures and videos of a design: read from its folder, checked by content, and part of its digest."""

import hashlib

import pytest

import cobandit as cb
from cobandit.studies import StudyDesign, journey, load_design, step_payload, task_payload
from cobandit.studies.design import design_text, parse_design
from cobandit.studies.media import LARGEST_IMAGE, media_file, sniffed_type
from tests.studies.pictures import MP4, PAGE, WEBM, illustrated, png


def hash_of(content):
    return hashlib.sha256(content).hexdigest()


class TestFolder:
    def test_texts_show_files_of_the_folder(self, tmp_path):
        design = load_design(illustrated(tmp_path))
        assert [file.file for file in design.media] == ["ward.png", "button.webm"]
        assert design.media[0].content == png(side=200)
        page = step_payload(design, None, journey(design).find("page-once-ward"))["page"]
        picture = {"tag": "img", "src": f"{hash_of(png(side=200))}/ward.png", "alt": "A ward with six beds", "of": []}
        video = {"tag": "video", "src": f"{hash_of(WEBM)}/button.webm", "alt": "A nurse presses a button", "of": []}
        assert page["marked"] == [{"tag": "p", "of": [picture]}, {"tag": "p", "of": [video]}]

    def test_the_digest_covers_the_content(self, tmp_path):
        path = illustrated(tmp_path)
        before = load_design(path)
        again = StudyDesign.from_dict(before.to_dict())
        assert (again.digest, again.media[0].content) == (before.digest, None)
        (tmp_path / "ward.png").write_bytes(png(1, 2, 3))
        assert load_design(path).digest != before.digest
        stated = PAGE + f'\n[[media]]\nfile = "ward.png"\nsha256 = "{hash_of(png(side=200))}"\n'
        path.write_text(path.read_text().replace(PAGE, stated))
        with pytest.raises(cb.InvalidInput, match=r"'ward.png' must have the SHA-256 that media states"):
            load_design(path)

    def test_arms_have_pictures(self, tmp_path):
        path = illustrated(tmp_path, "")
        design = load_design("three-by-three")
        text = path.read_text()
        first = design.task.icons[0][0]
        path.write_text(text.replace(f'"{first}"', '"bean.png"', 1))
        pictured = load_design(path)
        assert task_payload(pictured)["icons"][0][0] == f"{hash_of(png(90, 50, 20))}/bean.png"
        with pytest.raises(cb.InvalidInput, match=r"icons must be pictures .* got 'bean.png'"):
            parse_design(path.read_text())

    def test_designs_without_files_keep_their_digest(self):
        assert "media" not in load_design("burger").essence()


class TestRefusals:
    @pytest.mark.parametrize(
        ("shown", "said"),
        [
            ("![x](gone.png)", r"pages\.ward\.text holds a picture, 'gone.png'; it must be the name of a file"),
            ("![](ward.png)", r"must describe the picture 'ward.png'"),
            ("![x](../ward.png)", "must be the name of a file"),
            ("![x](https://elsewhere.example/a.png)", "must be the name of a file"),
            ("![x](data:image/png;base64,AAAA)", "must be the name of a file"),
        ],
    )
    def test_texts(self, tmp_path, shown, said):
        with pytest.raises(cb.InvalidInput, match=said):
            load_design(illustrated(tmp_path, PAGE.replace("![A ward with six beds](ward.png)", shown)))

    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("a.png", b"<svg onload=x>", "must be image/png by its content, got something else"),
            ("a.png", b"\xff\xd8\xff\xe0", "must be image/png by its content, got image/jpeg"),
            ("a.webm", MP4, "got video/mp4"),
            ("a.svg", b"<svg/>", "must be the name of a file"),
            ("a/b.png", png(), "must be the name of a file"),
            (".png", png(), "must be the name of a file"),
            ("a.png", png() + bytes(LARGEST_IMAGE), "must have at most 2 MiB"),
        ],
    )
    def test_files(self, file, content, said):
        with pytest.raises(cb.InvalidInput, match=said):
            media_file(file, content)

    def test_a_wrong_file_in_the_folder(self, tmp_path):
        path = illustrated(tmp_path)
        (tmp_path / "ward.png").write_bytes(b"<html>")
        with pytest.raises(cb.InvalidInput, match=r"'ward.png' must be image/png"):
            load_design(path)

    def test_a_text_without_a_folder(self):
        with pytest.raises(cb.InvalidInput, match="one of none so far"):
            parse_design(design_text("burger") + PAGE)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png(), "image/png"),
        (b"GIF89a", "image/gif"),
        (b"RIFF0000WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (MP4, "video/mp4"),
        (WEBM, "video/webm"),
        (b"\x1aE\xdf\xa3matroska", None),
        (b"", None),
    ],
)
def test_types_by_content(content, kind):
    assert sniffed_type(content) == kind
